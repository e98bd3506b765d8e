"""Explained texts: the prediction, the score of every unit by every method, and how good the scores are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, overload

import numpy as np
from pydantic import model_validator

from ..errors import UsageError, did_you_mean
from .formatting import measure_name, with_arrow
from .judgement.records import UnitName
from .provenance import Record
from .result import Result

if TYPE_CHECKING:
    import pandas

TOP = 3  # units of every method that are removed in turn
RANDOM_DRAWS = 10  # sets of random scores that a metric of one text is compared with

Array = np.ndarray[Any, np.dtype[np.float64]]
T = TypeVar("T")


class RemovedUnit(Record):
    """The prediction without one unit."""

    position: int
    unit: str
    probability: float | None  # of the explained class, minus that of `versus`; None: nothing is left
    change: float | None
    top_of: tuple[str, ...]  # methods that have it among their highest


class MetricValue(Record):
    """One measure of one text, with the value that random scores get."""

    method: str | None  # None for a metric that tests the model, whatever the explanation
    metric: str
    measure: str
    reference: str | None  # the method it is compared with, for a metric that compares two
    direction: Literal["up", "down", "none"]
    value: float | None  # None where it is undefined
    random: float | None  # the mean over sets of random scores; None if the metric does not use scores

    @property
    def title(self) -> str:
        """What is measured, against what, and which side is better."""
        against = f" against {self.reference}" if self.reference else ""
        return with_arrow(f"{measure_name(self.metric, self.measure)}{against}", self.direction)


class ClassScores(Record):
    """The scores of every method for one class, and how good they are."""

    target: str
    scores: dict[str, tuple[float | None, ...]]  # by method, one per unit
    metrics: tuple[MetricValue, ...] = ()


class Answer(Record):
    """An answer that was explained as a whole and piece by piece."""

    words: str  # the whole answer
    generated: bool  # the model's own, piece by piece the most probable; else it was given
    pieces: tuple[str, ...]  # of the model's tokenizer, spaces included
    probabilities: tuple[float, ...]  # of each piece after those before it; in a contrast p / (p + p(other))
    scores: dict[str, tuple[tuple[float | None, ...], ...]]  # by method: for each piece one score per unit
    against: tuple[str | None, ...] = ()  # in a contrast the other piece; None: any other

    @property
    def labels(self) -> tuple[str, ...]:
        """The pieces, each with the one that it is contrasted with."""
        others = self.against or (None,) * len(self.pieces)
        named = zip(self.pieces, others, strict=True)
        return tuple(piece if other is None else f"{piece}, not {other.strip()}" for piece, other in named)

    def matrix(self, method: str) -> Array:
        """The scores of a method, one row for each piece of the answer and one column for each unit.

        Args:
            method: the method.

        Returns:
            The scores [pieces, units]; NaN where a score is undefined.

        Raises:
            UsageError: there are no scores of that method.
        """
        return np.array(_found(self.scores, method, "method"), dtype=float)


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
    target: str = ""  # the explained class: the predicted one, if no other is asked for
    versus: str | None = None  # the class that it is contrasted with
    scores: dict[str, tuple[float | None, ...]]  # by method, one per unit
    metrics: tuple[MetricValue, ...] = ()
    left_out: tuple[RemovedUnit, ...]  # the strongest change first; none where units cannot be deleted
    others: tuple[ClassScores, ...] = ()  # the other classes, if all are asked for
    same_for_all: tuple[str, ...] = ()  # methods whose scores are the same for every class
    unknown: tuple[str, ...] = ()  # words that the model does not know: they never occur in train
    unit: UnitName = "word"  # what a reader calls a unit
    answer: Answer | None = None  # of a language model, whose words are explained instead of a class

    @model_validator(mode="before")
    @classmethod
    def _explains_the_prediction(cls, given: Any) -> Any:
        if isinstance(given, dict) and not given.get("target"):
            return {**given, "target": given.get("predicted")}
        return given

    @property
    def explained(self) -> str:
        """What the scores explain, as a formula."""
        return f"p({self.target})" + (f" − p({self.versus})" if self.versus else "")

    @property
    def by_class(self) -> tuple[ClassScores, ...]:
        """The scores of every class that was asked for, the main one first."""
        return (
            ClassScores(target=self.target, scores=self.scores, metrics=self.metrics),
            *self.others,
        )

    def array(self, method: str, target: str | None = None) -> Array:
        """The scores of a method, one number for each unit; NaN where a score is undefined.

        Args:
            method: the method.
            target: the class, if all classes were asked for; by default the main one.

        Returns:
            The scores [units].

        Raises:
            UsageError: there are no scores of that method or class.
        """
        of_class = {one.target: one.scores for one in self.by_class}
        scores = _found(of_class, target or self.target, "explained class")
        return np.array(_found(scores, method, "method"), dtype=float)

    def named(self, out: RemovedUnit) -> str:
        """A removed unit; of several with the same text, which one."""
        same = [at for at, unit in enumerate(self.units) if unit == out.unit]
        return f"{out.unit} ({_ordinal(same.index(out.position) + 1)})" if len(same) > 1 else out.unit

    def records(self) -> list[dict[str, Any]]:
        """The units in their order, one row for each and each explained class, one column for each method."""
        return [
            {
                "position": at,
                "unit": unit,
                "target": one.target,
                **{name: scores[at] for name, scores in one.scores.items()},
            }
            for one in self.by_class
            for at, unit in enumerate(self.units)
        ]

    def metric_records(self) -> list[dict[str, Any]]:
        """The metrics, one row for each explained class, method and measure."""
        return [{"target": one.target, **of.model_dump()} for one in self.by_class for of in one.metrics]

    def metrics_frame(self) -> pandas.DataFrame:
        """The metrics as a pandas DataFrame (needs pandas): one row per class, method and measure."""
        import pandas

        return pandas.DataFrame(self.metric_records())

    def __repr__(self) -> str:
        share = self.probabilities[self.predicted]
        of = "" if self.target == self.predicted and not self.versus else f"; {self.explained}"
        text = f"{self.predicted} {share:.3f}{of}; {', '.join(self.scores)}"
        return f"<Explanation of {len(self.units)} {self.unit}s: {text}>"


class Explanations(Result):
    """Several explained texts, a sequence of `Explanation` in the order in which they were given."""

    file_stem: ClassVar[str] = "explanations"

    title: str  # of the run, or of task and model
    explanations: tuple[Explanation, ...]

    def __len__(self) -> int:
        return len(self.explanations)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Explanation, ...]: ...
    def __getitem__(self, index: int | slice) -> Explanation | tuple[Explanation, ...]:
        return self.explanations[index]

    def __iter__(self) -> Iterator[Explanation]:  # type: ignore[override]  # pydantic's gives the fields
        return iter(self.explanations)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that have scores."""
        return tuple(self.explanations[0].scores)

    def arrays(self, method: str, target: str | None = None) -> list[Array]:
        """The scores of a method for every text, one number for each of its units.

        Args:
            method: the method.
            target: the class, if all classes were asked for; by default the main one of every text.

        Returns:
            One array for each text.

        Raises:
            UsageError: there are no scores of that method or class.
        """
        return [one.array(method, target) for one in self.explanations]

    def records(self) -> list[dict[str, Any]]:
        """One row for each text, explained class, method and unit."""
        return [
            {
                "text": number,
                "id": one.id,
                "predicted": one.predicted,
                "target": of.target,
                "versus": one.versus,
                "method": method,
                "position": at,
                "unit": unit,
                "score": score,
            }
            for number, one in enumerate(self.explanations)
            for of in one.by_class
            for method, scores in of.scores.items()
            for at, (unit, score) in enumerate(zip(one.units, scores, strict=True))
        ]

    def metric_records(self) -> list[dict[str, Any]]:
        """The metrics, one row for each text, explained class, method and measure."""
        return [
            {"text": number, "id": one.id, **record}
            for number, one in enumerate(self.explanations)
            for record in one.metric_records()
        ]

    def metrics_frame(self) -> pandas.DataFrame:
        """The metrics as a pandas DataFrame (needs pandas): one row per text, class, method and measure."""
        import pandas

        return pandas.DataFrame(self.metric_records())

    def __repr__(self) -> str:
        return f"<Explanations of {len(self)} texts: {', '.join(self.methods)}>"


def _found(among: dict[str, T], name: str, what: str) -> T:
    if name not in among:
        known = ", ".join(among)
        raise UsageError(f"There is no {what} '{name}' here.{did_you_mean(name, among)} Known: {known}.")
    return among[name]


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def shares(scores: tuple[float | None, ...]) -> tuple[float, ...]:
    """Scores as shares of the largest, signs kept; what is not known is 0."""
    largest = max((abs(score) for score in scores if score is not None), default=0.0)
    return tuple(score / largest if score and largest else 0.0 for score in scores)
