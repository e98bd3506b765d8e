"""A correct component of every kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnx.formulas.randomness import Randomness
from attnx.host.cards import Kind
from attnx.protocols import ImportanceMethod, Metric, Model, SplitMetric, Task
from attnx.testing import MarkedToyModel, ToyModel, toy_data
from attnx.testing.toy import ToySoftmax
from attnx.types import Axis, Conclusion, Corpus, Evidence, Measure, TaskData, Trace, WithCurve

SPLITS = ("train", "dev", "test")


class ToyTask(Task):
    """The toy sentences that have a rationale, under another name in each split."""

    provides = ("words", "rationale")

    def load(self, source: Any) -> TaskData:
        return self.sample()

    def sample(self) -> TaskData:
        known = [example for example in toy_data().test if example.rationale is not None]
        train, dev, test = (
            tuple(replace(example, id=f"{split}-{example.id}") for example in known) for split in SPLITS
        )
        return replace(toy_data(), train=train, dev=dev, test=test)


class Weights(ImportanceMethod):
    """The attention weights."""

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        return trace.attention


class Gradients(ImportanceMethod):
    """The gradient of the logits' sum times the embeddings, through a forward pass of its own."""

    needs = ("gradient",)

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        embeddings = trace.embeddings.detach().requires_grad_()
        logits = model.run(trace.batch, embeddings).logits
        (gradient,) = torch.autograd.grad(logits[:, 1].sum(), embeddings)
        return (gradient * embeddings).sum(-1).masked_fill(~trace.batch.mask, 0.0)


class OnRationale(Metric):
    """The explanation's weight on the rationale, and the share of examples with more than t."""

    needs = ("rationale",)
    family = "ground-truth"
    measures = (Measure("weight", "up", (0, 1)),)
    axis: Axis | None = Axis("weight above t", "t", (0.0, 0.5, 1.0))

    def __call__(self, evidence: Evidence) -> Tensor | WithCurve:
        total = evidence.explanation.values.sum(1)
        weight = (evidence.explanation.values * evidence.trace.batch.rationale).sum(1) / total
        if self.axis is None:
            return weight
        return WithCurve(weight, (weight[:, None] > weight.new_tensor(self.axis.points)).double())


class WeightByLength(SplitMetric):
    """The top unit's mean weight in a split, and the same by number of units."""

    family = "shape"
    measures = (Measure("top weight", "none", (0, 1)),)

    def keep(self, evidence: Evidence, corpus: Corpus) -> tuple[Tensor, ...]:
        return evidence.explanation.values.amax(1), evidence.trace.batch.mask.sum(1)

    def conclude(self, kept: tuple[Tensor, ...], corpus: Corpus) -> Conclusion:
        top, units = kept
        lengths = corpus.unit_counts.unique().tolist()
        by_length = torch.stack([top[units == length].mean() for length in lengths])
        return Conclusion(top.mean()[None], ((Axis("top weight", "units", tuple(lengths)), by_length),))


CORRECT: dict[str, tuple[Kind, Any]] = {
    "projection": ("projection", ToySoftmax()),
    "model": ("model", ToyModel()),
    "model with special columns": ("model", MarkedToyModel()),
    "task": ("task", ToyTask()),
    "importance": ("importance", Weights()),
    "importance with gradients": ("importance", Gradients()),
    "metric": ("metric", OnRationale()),
    "metric without a curve": ("metric", type("Scalar", (OnRationale,), {"axis": None})()),
    "metric of a whole split": ("metric", WeightByLength()),
}
