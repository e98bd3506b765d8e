from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor, nn

from attnx.plugin import AttentionProjection, Batch, Example, TaskData, Trace

from .options import RuleReaderOptions
from .rules import CODES, PLAIN, SCORES


class RuleReader(nn.Module):
    """A model that decides by a rule that is known exactly; it is not trained.

    Reads the texts of `planted-rules`: the logit of `positive` is the score of the rule, 0 where nothing
    decides. It shows neither attention nor gradients, so that only what it does can be tested.
    """

    needs = ("words",)
    provides = ("deletion", "unseen-words")

    def __init__(self, options: RuleReaderOptions) -> None:
        super().__init__()
        self.score = SCORES[options.rule]

    @classmethod
    def build(cls, data: TaskData, projection: AttentionProjection, options: RuleReaderOptions) -> Self:
        return cls(options)

    def encode(self, examples: Sequence[Example]) -> Batch:
        rows = [[CODES.get(word, PLAIN) for word in example.units] for example in examples]
        return Batch.padded(examples, rows)

    def embed(self, batch: Batch) -> Tensor:
        return batch.inputs[..., None].float()  # [B, L, 1]

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        codes = embeddings[..., 0].round().long()  # [B, L]
        score = self.score(codes, batch.mask).to(embeddings)  # [B]
        logits = torch.stack([torch.zeros_like(score), score], dim=1)
        return Trace.of(batch, embeddings, logits)

    def attention_parameters(self) -> tuple[nn.Parameter, ...]:
        return ()
