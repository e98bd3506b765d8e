"""One example explained: what the model said, and which units each method says it was for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

TOP = 3  # units of every method that are left out in turn


@dataclass(frozen=True, slots=True)
class RemovedUnit:
    """What the model says without one unit."""

    position: int
    unit: str
    probability: float | None  # of the class that was predicted with it; None where nothing is left
    change: float | None
    top_of: tuple[str, ...]  # methods that have it among their highest


@dataclass(frozen=True, slots=True)
class Explanation:
    """One example as the model of one seed sees it."""

    title: str  # of the run, or of task and model
    id: str  # empty for a text of the caller's own
    units: tuple[str, ...]
    query: tuple[str, ...] | None
    label: str | None  # None where it is not known
    seed: int
    predicted: str
    probabilities: Mapping[str, float]  # by label
    scores: Mapping[str, tuple[float | None, ...]]  # by method, one per unit
    left_out: tuple[RemovedUnit, ...]  # the strongest change first; none where units cannot be deleted
    unknown: tuple[str, ...] = ()  # words that the model cannot know, as they never occur in train

    def named(self, out: RemovedUnit) -> str:
        """A unit that was left out; of several with the same text, which."""
        same = [at for at, unit in enumerate(self.units) if unit == out.unit]
        return f"{out.unit} ({_ordinal(same.index(out.position) + 1)})" if len(same) > 1 else out.unit

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain mappings and lists."""
        return json.loads(json.dumps(asdict(self)))

    def to_json(self) -> str:
        """Everything as JSON text."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def to_html(self) -> str:
        """A page that needs nothing else."""
        from ..views.page.explanation import page

        return page(self)

    def _repr_html_(self) -> str:
        from ..views.page.explanation import fragment

        return fragment(self)

    def __repr__(self) -> str:
        share = self.probabilities[self.predicted]
        said = f"{self.predicted} {share:.3f}; {', '.join(self.scores)}"
        return f"<Explanation of {len(self.units)} units: {said}>"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def shares(scores: tuple[float | None, ...]) -> tuple[float, ...]:
    """Scores as shares of the largest, signs kept; what is not known is 0."""
    largest = max((abs(score) for score in scores if score is not None), default=0.0)
    return tuple(score / largest if score and largest else 0.0 for score in scores)
