"""How many pieces a transformer reads at once."""

from __future__ import annotations

from typing import Any

from torch import nn

from attnx.plugin import UsageError

UNLIMITED = 10**6  # a tokenizer that knows no limit says some such number
READ_AT_MOST = 512  # where neither the model nor its tokenizer knows a limit


def most_pieces(transformer: Any, tokenizer: Any, longest: int | None) -> int:
    """The most pieces of a row: what the model and its tokenizer take, or fewer if asked for."""
    known = [tokenizer.model_max_length, _places(transformer)]
    fits = min([number for number in known if number and number < UNLIMITED], default=READ_AT_MOST)
    if longest is not None and longest > fits:
        raise UsageError(f"longest={longest}: the model reads {fits} pieces at most.")
    return longest or fits


def _places(transformer: Any) -> int | None:
    """How many positions a transformer knows."""
    for name, module in transformer.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            # RoBERTa and its like count positions from after the one of padding.
            return module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
    number: int = getattr(transformer.config, "max_position_embeddings", None) or 0
    return number if number > 0 else None  # XLNet says -1: any number
