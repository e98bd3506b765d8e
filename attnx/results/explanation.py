"""One example explained: the prediction, and the score of every unit by every method."""

from __future__ import annotations

from typing import Any, ClassVar

from .provenance import Record
from .result import Result
from .verdict_records import UnitName

TOP = 3  # units of every method that are removed in turn


class RemovedUnit(Record):
    """The prediction without one unit."""

    position: int
    unit: str
    probability: float | None  # of the class that was predicted with it; None where nothing is left
    change: float | None
    top_of: tuple[str, ...]  # methods that have it among their highest


class Explanation(Result):
    """One example explained: the prediction of one trained model, and the scores of every method."""

    file_stem: ClassVar[str] = "explanation"

    title: str  # of the run, or of task and model
    id: str  # empty for a text of the caller's own
    units: tuple[str, ...]
    query: tuple[str, ...] | None
    label: str | None  # None where it is not known
    seed: int
    predicted: str
    probabilities: dict[str, float]  # by label
    scores: dict[str, tuple[float | None, ...]]  # by method, one per unit
    left_out: tuple[RemovedUnit, ...]  # the strongest change first; none where units cannot be deleted
    unknown: tuple[str, ...] = ()  # words that the model does not know: they never occur in train
    unit: UnitName = "word"  # what a reader calls a unit

    def named(self, out: RemovedUnit) -> str:
        """A removed unit; of several with the same text, which one."""
        same = [at for at, unit in enumerate(self.units) if unit == out.unit]
        return f"{out.unit} ({_ordinal(same.index(out.position) + 1)})" if len(same) > 1 else out.unit

    def records(self) -> list[dict[str, Any]]:
        """The units in their order, one row each, with the score of every method."""
        return [
            {"position": at, "unit": unit, **{name: scores[at] for name, scores in self.scores.items()}}
            for at, unit in enumerate(self.units)
        ]

    def __repr__(self) -> str:
        share = self.probabilities[self.predicted]
        said = f"{self.predicted} {share:.3f}; {', '.join(self.scores)}"
        return f"<Explanation of {len(self.units)} {self.unit}s: {said}>"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def shares(scores: tuple[float | None, ...]) -> tuple[float, ...]:
    """Scores as shares of the largest, signs kept; what is not known is 0."""
    largest = max((abs(score) for score in scores if score is not None), default=0.0)
    return tuple(score / largest if score and largest else 0.0 for score in scores)
