"""What transformers itself says of one sentence at a time, with eager attention, in numpy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tiny_checkpoints import tokenizer
from transformers import AutoModelForSequenceClassification

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Stock:
    """One sentence in a stock BERT classifier."""

    words: list[int | None]  # of every position
    attentions: list[Array]  # by layer [M, T, T]
    gradients: list[Array]  # of the logit of the predicted class with respect to them
    sizes: list[Array]  # by layer [M, T] ‖v_i W_O‖

    @property
    def units(self) -> int:
        return 1 + max(word for word in self.words if word is not None)

    def by_word(self, scores: Array, first: bool = False) -> Array:
        """[n] sums over the pieces of each word, or the first piece's alone."""
        found = []
        for unit in range(self.units):
            mine = [scores[place] for place, word in enumerate(self.words) if word == unit]
            found.append(mine[0] if first else sum(mine))
        return np.array(found)


def ask_stock(folder: Path, sentence: str) -> Stock:
    """Run a stock BERT classifier on a sentence."""
    model = AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()
    inputs = tokenizer()(sentence, return_tensors="pt")
    output = model(**inputs, output_attentions=True, output_hidden_states=True)
    gradients = torch.autograd.grad(output.logits[0].max(), output.attentions)
    sizes = []
    for block, states in zip(model.bert.encoder.layer, output.hidden_states, strict=False):
        attention, mix = block.attention.self, block.attention.output.dense.weight.detach()  # [H, M·D]
        heads, depth = attention.num_attention_heads, attention.attention_head_size
        values = attention.value(states[0]).detach().view(-1, heads, depth)  # [T, M, D]
        sizes.append(
            np.array(
                [
                    [float((mix[:, m * depth : (m + 1) * depth] @ v[m]).norm()) for v in values]
                    for m in range(heads)
                ]
            )
        )
    return Stock(
        words=inputs.word_ids(),
        attentions=[a[0].detach().numpy() for a in output.attentions],
        gradients=[g[0].numpy() for g in gradients],
        sizes=sizes,
    )
