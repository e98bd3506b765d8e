"""How far measuring is within a batch, seen from the passes that go through the model.

A batch of short texts under an expensive method takes minutes, so finished batches alone would show no
progress for as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...progress import Step
from ...protocols import Model
from ...types import Passes
from .attribution import Named, counted_passes
from .splits import Split

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class PassMeter:
    """Turns examples sent through the model into a share of all that will be."""

    step: Step
    expected: float  # units
    split: int  # examples
    sent: float = 0.0
    finished: int = 0  # examples

    def __call__(self, done: int = 1, note: str = "", share: float = 0.0) -> None:
        """Examples are finished: as `Step`."""
        self.finished += done
        if self.finished:  # what was declared is about right; what was sent so far is right
            self.expected = max(self.sent, self.sent * self.split / self.finished)
        self.step(done, note, share)

    def passed(self, rows: int, columns: int) -> None:
        """So many examples of so many columns went through the model."""
        self.sent += rows * columns
        # Until a batch is finished the declared number is a guess, so the end is left to the batches.
        self.step(0, "", 0.99 * min(1.0, self.sent / self.expected) if self.expected else 0.0)


def units_declared(
    methods: Sequence[Named], pairs: Sequence[tuple[Named, str | None, str | None]], counts: Array
) -> Array:
    """[N] about how many units go through the model for examples of so many units [N], as is declared."""
    of_metrics = {(metric.label, explanation): metric.component.passes for metric, explanation, _ in pairs}
    of_methods = {named.label: named.component.passes for named in methods}
    return counts * sum((_passes(each, counts) for each in (*of_metrics.values(), *of_methods.values())), 0.0)


def _passes(declared: Passes, counts: Array) -> Array | float:
    return counts if declared == "units" else declared


@contextmanager
def metered(model: Model, split: Split, units: Array, step: Step) -> Iterator[Step]:
    """A step that also follows the passes through the model, of which `units` [N] are expected."""
    meter = PassMeter(step, float(units.sum()), len(split))
    with counted_passes(model, meter.passed):
        yield meter
