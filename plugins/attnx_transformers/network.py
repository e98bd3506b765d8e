"""A transformer that reads words: from examples to positions and back."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Self

import torch
from attnx.plugin import Batch, Example, Source, TaskData, UsageError
from torch import Tensor, nn

from .checkpoints import Checkpoint, quiet
from .options import CheckpointOptions
from .packing import Packing
from .stack import Stack
from .taps import Tap, install
from .word_pieces import WordPieces

UNLIMITED = 10**6  # a tokenizer that knows no limit says some such number
READ_AT_MOST = 512  # where neither the model nor its tokenizer knows a limit


class Network(nn.Module):
    """A model of transformers with its tokenizer, run from embeddings of words in pieces.

    Embeddings of a column are those of its pieces end to end, [B, L, S·E].
    """

    def __init__(
        self,
        kind: str,
        data: TaskData,
        options: CheckpointOptions,
        *,
        left: bool | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        checkpoint = Checkpoint.find(options, data.source or Source())
        tokenizer = checkpoint.load("AutoTokenizer", add_prefix_space=True)
        self.transformer, told = checkpoint.load(
            kind, use_safetensors=True, output_loading_info=True, **settings
        )
        self.new: frozenset[str] = frozenset(told["missing_keys"])  # parameters the checkpoint does not have
        config = self.transformer.config
        if getattr(config, "is_encoder_decoder", False):
            raise UsageError(
                f"checkpoint={options.checkpoint} has an encoder and a decoder, and so no single "
                "attention over a text: choose an encoder or a decoder alone."
            )
        if getattr(config, "pad_token_id", None) is None:
            config.pad_token_id = tokenizer.pad_token_id or 0
        # One that answers from its last position looks for it at the end of the row.
        self.left = hasattr(self.transformer, "score") if left is None else left
        takes = inspect.signature(self.transformer.forward).parameters
        self.takes_types = "token_type_ids" in takes and "token_type_ids" in tokenizer.model_input_names
        self.takes_positions = self.left and "position_ids" in takes
        asked = any(example.query is not None for example in data.train)
        self.pieces = WordPieces(tokenizer, _limit(config, tokenizer, options.longest), asked)
        install(self.transformer)
        self._stack: Stack | None = None

    @property
    def table(self) -> nn.Module:
        """The table of embeddings."""
        table: nn.Module = self.transformer.get_input_embeddings()
        return table

    @property
    def size(self) -> int:
        """E, the size of an embedding."""
        size: int = self.table.embedding_dim  # type: ignore[assignment]
        return size

    @property
    def stack(self) -> Stack:
        """The layers, found when they are first asked for."""
        if self._stack is None:
            vectors = self._probe()
            mask = torch.ones(vectors.shape[:2], dtype=torch.long, device=vectors.device)
            training = self.transformer.training
            self.transformer.eval()
            try:
                with quiet():
                    self._stack = Stack.of(self.transformer, lambda: self._call(vectors, attention_mask=mask))
            finally:
                self.transformer.train(training)
        return self._stack

    def _probe(self) -> Tensor:
        """[1, T, E] vectors of a few positions, no two alike."""
        ids = torch.tensor(self.pieces.of(["a"] * 3)).view(1, -1)  # [1, T]
        vectors: Tensor = self.table(ids.to(self.transformer.device))  # [1, T, E]
        noise = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(0))
        return vectors + noise.to(vectors)

    def _call(self, vectors: Tensor, **more: Any) -> Any:
        """The output of the transformer for vectors [B, T, E]."""
        return self.transformer(inputs_embeds=vectors, **more)

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        """Moves and conversions, after which weights that two modules share are one again."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.transformer.tie_weights()
        return self

    def encode(self, examples: Sequence[Example], around: tuple[list[str], list[str]] | None = None) -> Batch:
        return self.pieces.encode(examples, around)

    def embed(self, batch: Batch) -> Tensor:
        """[B, L, S·E], as many slots as the longest word of the batch has pieces."""
        ids = batch.inputs[..., :-1]
        slots = max(1, int((ids >= 0).sum(-1).max())) if ids.numel() else 1
        ids = ids[..., :slots].long()  # [B, L, S]
        vectors: Tensor = self.table(ids.clamp_min(0)).masked_fill((ids < 0)[..., None], 0.0)
        return vectors.flatten(2)

    def packing(self, batch: Batch, embeddings: Tensor) -> Packing:
        """Where the pieces stand of which these are the embeddings."""
        return Packing.of(batch, embeddings.shape[-1] // self.size, self.left)

    def forward(self, packing: Packing, vectors: Tensor, **more: Any) -> Any:
        """The output of the transformer for vectors [B, T, E] at positions."""
        more["attention_mask"] = packing.used.long()
        if self.takes_types:
            more["token_type_ids"] = packing.kind
        if self.takes_positions:
            more["position_ids"] = (packing.used.long().cumsum(1) - 1).clamp_min(0)
        with quiet():
            return self._call(vectors, **more)

    def watched(
        self, packing: Packing, vectors: Tensor, **more: Any
    ) -> tuple[Any, tuple[Tensor, ...], tuple[Tensor, ...]]:
        """The output, and for every layer the weights [B, M, T, T] and the sizes [B, M, T]."""
        taps = {layer: Tap() for layer in range(len(self.stack))}
        with self.stack.read(taps):
            output = self(packing, vectors, **more)
        weights = tuple(tap.weights for tap in taps.values())
        return output, weights, tuple(self.stack.sizes(layer, tap.values) for layer, tap in taps.items())


def _limit(config: Any, tokenizer: Any, longest: int | None) -> int:
    """The most pieces of a row."""
    known = [tokenizer.model_max_length, getattr(config, "max_position_embeddings", None)]
    fits = min([number for number in known if number and number < UNLIMITED], default=READ_AT_MOST)
    if longest is not None and longest > fits:
        raise UsageError(f"longest={longest}: the model reads {fits} pieces at most.")
    return longest or fits
