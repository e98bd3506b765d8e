"""What was measured of trained models, before anything is summarised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from ..types import Axis, Family, Measure, Sees

Array = np.ndarray[Any, np.dtype[Any]]
Key = tuple[str, str | None, str | None]  # metric, explanation, reference


class Epoch(BaseModel):
    """The state of training after one epoch; epoch 0 is the untrained model."""

    model_config = ConfigDict(frozen=True)

    epoch: int
    loss: float | None  # mean over train, None before training
    dev_loss: float
    dev_accuracy: float
    followed: dict[str, dict[str, float]]  # metric -> measure -> mean over dev


class TrainingRecord(BaseModel):
    """How a model was trained."""

    model_config = ConfigDict(frozen=True)

    course: tuple[Epoch, ...]
    best_epoch: int

    def following(self, metrics: Sequence[str]) -> TrainingRecord | None:
        """The record with these of its followed metrics alone; None where one was not followed."""
        if any(metric not in epoch.followed for epoch in self.course for metric in metrics):
            return None
        course = tuple(
            epoch.model_copy(update={"followed": {metric: epoch.followed[metric] for metric in metrics}})
            for epoch in self.course
        )
        return self.model_copy(update={"course": course})

    @property
    def dev_accuracy(self) -> float | None:
        """Of the epoch that is used; None for a model that was not trained here."""
        return self.course[self.best_epoch].dev_accuracy if self.course else None


@dataclass(frozen=True, slots=True)
class Measurement:
    """The values of one metric for one explanation, or for the model itself."""

    metric: str
    family: Family
    sees: Sees
    measures: tuple[Measure, ...]
    explanation: str | None  # None: of the model, whatever is said of it
    reference: str | None
    whole_split: bool
    values: Array  # [N, M] one row per example, or [1, M] for the whole split; NaN where undefined
    curves: tuple[tuple[Axis, Array], ...]  # of the split
    sampled: Array | None = None  # [N] bool: the examples it was measured on; None: all of them

    @property
    def key(self) -> Key:
        """What was measured: the metric, the explanation and the reference."""
        return self.metric, self.explanation, self.reference

    def spread(self, rows: Array, size: int) -> Measurement:
        """What was measured on these rows of a split, at their places in the whole of it."""
        if self.whole_split:
            return self
        sampled = np.isin(np.arange(size), rows)
        return replace(self, values=_placed(self.values, sampled), sampled=sampled)


@dataclass(frozen=True, slots=True)
class AttributionCost:
    """What the importances of a split cost."""

    seconds: float
    passes: int  # examples sent through the model
    examples: int  # that were explained
    reused: int = 0  # of them, those whose scores were kept from an earlier run

    def plus(self, seconds: float, passes: int, examples: int = 0, reused: int = 0) -> AttributionCost:
        """With what more examples cost."""
        return AttributionCost(
            self.seconds + seconds, self.passes + passes, self.examples + examples, self.reused + reused
        )


@dataclass(frozen=True, slots=True)
class Traits:
    """What can be seen of scores before anything is made of them."""

    signed: bool  # some are negative
    constant: float  # share of the examples in which all units have the same
    declares_signs: bool  # the method says that negative scores speak against the class


@dataclass(frozen=True, slots=True)
class StoredScores:
    """The scores of a split, as they are stored: the units of all examples in one row."""

    lengths: Array  # [N] units of each example
    shares: dict[str, Array]  # by method [U], each a share of its example's largest, in half precision
    largest: dict[str, Array]  # by method [N]; NaN for an example that was not explained
    without_top: dict[str, Array]  # by method [N] probability of the predicted class without its top unit

    @classmethod
    def chained(cls, parts: Sequence[StoredScores]) -> StoredScores:
        """The examples of several parts behind one another."""
        first = parts[0]
        return cls(
            np.concatenate([part.lengths for part in parts]),
            {name: np.concatenate([part.shares[name] for part in parts]) for name in first.shares},
            {name: np.concatenate([part.largest[name] for part in parts]) for name in first.largest},
            {name: np.concatenate([part.without_top[name] for part in parts]) for name in first.without_top},
        )

    def taken(self, order: Array) -> StoredScores:
        """The examples at these places, in this order."""
        lengths = self.lengths[order]
        before = np.repeat(np.cumsum(self.lengths)[order] - lengths, lengths)  # [U] where an example began
        within = np.arange(len(before)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        units = before + within
        return StoredScores(
            lengths,
            {name: of[units] for name, of in self.shares.items()},
            {name: of[order] for name, of in self.largest.items()},
            {name: of[order] for name, of in self.without_top.items()},
        )

    def joined(self, sample: StoredScores, rows: Array) -> StoredScores:
        """With the scores of methods that explained the examples in `rows` alone; NaN for the others."""
        chosen = np.isin(np.arange(len(self.lengths)), rows)  # [N]
        units = np.repeat(chosen, self.lengths)  # [U]
        return StoredScores(
            self.lengths,
            {**self.shares, **{name: _placed(of, units) for name, of in sample.shares.items()}},
            {**self.largest, **{name: _placed(of, chosen) for name, of in sample.largest.items()}},
            {**self.without_top, **{name: _placed(of, chosen) for name, of in sample.without_top.items()}},
        )


def _placed(values: Array, chosen: Array) -> Array:
    """The values at the places that are chosen, in their order, and NaN elsewhere."""
    whole = np.full((len(chosen), *values.shape[1:]), np.nan, dtype=values.dtype)
    whole[chosen] = values
    return whole


@dataclass(frozen=True, slots=True)
class Observation:
    """What one model did on a split, in the order of its examples."""

    logits: Array  # [N, C]
    labels: Array  # [N]
    measurements: tuple[Measurement, ...]
    costs: dict[str, AttributionCost]  # by importance method
    traits: dict[str, Traits]  # likewise
    kept: StoredScores | None = None
    on_cpu: tuple[str, ...] = ()  # methods and metrics that computed there and not where they were asked to
    unread: Array | None = None  # [N] units that the model did not read; None: it read all of them

    @property
    def predicted(self) -> Array:
        """The most probable class of every example [N]."""
        return self.logits.argmax(1)

    def joined(self, sample: Observation, rows: Array, order: Sequence[str]) -> Observation:
        """With what was seen of the examples in `rows` alone, the metrics in this order."""
        size, costs = len(self.labels), dict(self.costs)
        for method, cost in sample.costs.items():
            before = costs.get(method, AttributionCost(0.0, 0, 0))
            costs[method] = before.plus(cost.seconds, cost.passes, cost.examples, cost.reused)
        measurements = (*self.measurements, *(m.spread(rows, size) for m in sample.measurements))
        return replace(
            self,
            measurements=tuple(sorted(measurements, key=lambda m: order.index(m.metric))),
            costs=costs,
            traits={**sample.traits, **self.traits},
            on_cpu=tuple(sorted({*self.on_cpu, *sample.on_cpu})),
            kept=self.kept.joined(sample.kept, rows) if self.kept and sample.kept else self.kept,
        )


@dataclass(frozen=True, slots=True)
class SeedResult:
    """What one seed gave."""

    seed: int
    record: TrainingRecord
    observation: Observation
