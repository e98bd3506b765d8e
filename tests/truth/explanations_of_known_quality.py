"""Explanations whose quality is known: right in a share of the texts, random in the others."""

from __future__ import annotations

import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

GOOD, BAD = 1, 2  # codes of `rule-reader`


class RightInSome(ImportanceMethod):
    """The marked words in a share of the texts, and random scores in the others."""

    target_use = "ignored"

    def __init__(self, share: float, seed: int = 0) -> None:
        self.share, self.randomness = share, Randomness(seed).to("right in some")

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        batch = trace.batch
        scores = self.randomness.uniform(batch)[:, 0]  # [B, L]
        numbers = [int(example.id.rpartition("-")[2]) // 2 for example in batch.examples]  # labels alternate
        right = torch.tensor([number % 20 < 20 * self.share for number in numbers])[:, None]  # [B, 1]
        marked = ((batch.rationale == 1) & batch.mask).double()
        values = torch.where(right, marked, scores * batch.mask)
        return values.to(trace.logits.dtype)


class ForAndAgainst(ImportanceMethod):
    """1 for words that speak for the predicted class, −1 for words against it."""

    signed = True

    def __init__(self, sign: float = 1.0) -> None:
        self.sign = sign

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        codes = trace.batch.inputs
        polarity = (codes == GOOD).double() - (codes == BAD).double()
        values = self.sign * polarity * torch.where(target == 1, 1.0, -1.0)[:, None]
        return (values * trace.batch.mask).to(trace.logits.dtype)


class Noisy(ImportanceMethod):
    """Another explanation with noise of a thousandth of its largest score."""

    target_use = "ignored"

    def __init__(self, other: ImportanceMethod) -> None:
        self.other, self.randomness = other, Randomness(5).to("noise")

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        scores = self.other(model, trace, target, random)
        noise = self.randomness.uniform(trace.batch)[:, 0] * trace.batch.mask
        return scores + 1e-3 * noise.to(scores)
