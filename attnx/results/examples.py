"""Examples as a run keeps them: what they are made of, what each model did with them, what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..request.keep_levels import Keep
from .formatting import measure_name

if TYPE_CHECKING:
    import pandas

    from ..types import Direction, DrawingData

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class ExampleColumn:
    """One measure that is kept for every example."""

    metric: str
    measure: str
    explanation: str | None  # None: of the model itself
    reference: str | None
    direction: Direction

    @property
    def title(self) -> str:
        """What is measured, of what, against what."""
        of = f" of {self.explanation}" if self.explanation else ""
        against = f" against {self.reference}" if self.reference else ""
        return f"{measure_name(self.metric, self.measure)}{of}{against}"


@dataclass(frozen=True, slots=True)
class SeedScores:
    """What the model of one seed did with one example."""

    seed: int
    predicted: str
    probabilities: tuple[float, ...]  # by class, in the order of the label names
    correct: bool
    scores: Mapping[str, tuple[float | None, ...]]  # by importance method, one per unit
    measures: Mapping[ExampleColumn, float | None]  # None: undefined, or not measured
    without_top: Mapping[str, float | None]  # by method: the predicted class without its top unit


@dataclass(frozen=True, slots=True)
class StoredExample:
    """One example of the test split with what every model did with it."""

    id: str
    units: tuple[str, ...]  # empty where values alone were kept
    label: str
    query: tuple[str, ...] | None
    rationale: tuple[bool, ...] | None
    seen: tuple[SeedScores, ...]  # by seed


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one importance method, the units of all examples behind one another.

    They are shares of the largest score of their example and seed, which is kept exactly: half
    precision is then enough whatever the scale.
    """

    shares: Array  # [S, U] half precision
    largest: Array  # [S, N]; NaN for an example that was not explained

    def of(self, seed: int, row: int, units: slice) -> tuple[float | None, ...] | None:
        """One score per unit; None where there are none."""
        if np.isnan(self.largest[seed, row]):
            return None
        return _numbers(self.shares[seed, units].astype(float) * self.largest[seed, row])


@dataclass(frozen=True, eq=False)
class Examples(Sequence[StoredExample]):
    """The examples of a run in the order of its test split.

    S seeds, N examples, C classes, K columns, U units of all examples together.
    """

    label_names: tuple[str, ...]
    seeds: tuple[int, ...]
    columns: tuple[ExampleColumn, ...]
    ids: tuple[str, ...]
    labels: Array  # [N]
    units: tuple[tuple[str, ...], ...]  # per example; none at all where values alone were kept
    queries: tuple[tuple[str, ...] | None, ...]
    rationales: tuple[tuple[bool, ...] | None, ...]
    predicted: Array  # [S, N]
    probabilities: Array  # [S, N, C]
    measures: Array  # [S, N, K], NaN where undefined or not measured
    lengths: Array  # [N] units with a score
    scores: Mapping[str, Scores] = field(default_factory=dict)
    without_top: Mapping[str, Array] = field(default_factory=dict)  # [S, N] each, NaN where undefined
    gains: Mapping[str, Array] = field(default_factory=dict)  # [S, N] over random in the deciding test
    best_gain: Array | None = None  # [S, N] that of the best order found; None if nothing was ranked
    pictures: Mapping[int, bytes] = field(default_factory=dict)  # by row: a PNG, of examples that have one
    drawn: Mapping[str, Mapping[str, DrawingData]] = field(
        default_factory=dict
    )  # by drawing: what it is made of

    @property
    def methods(self) -> tuple[str, ...]:
        """The importance methods whose scores are kept, the model's own attention first."""
        return tuple(self.scores)

    @property
    def keep(self) -> Keep:
        """How much was kept."""
        return "all" if self.scores else "values"

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> StoredExample: ...
    @overload
    def __getitem__(self, index: slice) -> list[StoredExample]: ...
    def __getitem__(self, index: int | slice) -> StoredExample | list[StoredExample]:
        if isinstance(index, slice):
            return [self._example(row) for row in range(len(self))[index]]
        return self._example(range(len(self))[index])

    def __iter__(self) -> Iterator[StoredExample]:
        return (self._example(row) for row in range(len(self)))

    def __repr__(self) -> str:
        methods = f"; scores of {', '.join(self.methods)}" if self.methods else ""
        return f"<Examples: {len(self)}, seeds {', '.join(map(str, self.seeds))}{methods}>"

    def _repr_html_(self) -> str:
        """The first examples for a notebook."""
        from .rendering import notebook_of

        return notebook_of(self)

    def find(self, id_: str) -> StoredExample:
        """The example of that id."""
        if id_ not in self.ids:
            from ..errors import UsageError, did_you_mean

            raise UsageError(
                f"No example '{id_}' in this run.{did_you_mean(id_, self.ids)} "
                f"It has {len(self)}, from '{self.ids[0]}' to '{self.ids[-1]}'."
            )
        return self._example(self.ids.index(id_))

    @cached_property
    def _stops(self) -> Array:
        return self.lengths.cumsum()

    def _example(self, row: int) -> StoredExample:
        return StoredExample(
            id=self.ids[row],
            units=self.units[row] if self.units else (),
            label=self.label_names[int(self.labels[row])],
            query=self.queries[row] if self.queries else None,
            rationale=self.rationales[row] if self.rationales else None,
            seen=tuple(self._seen(seed, row) for seed in range(len(self.seeds))),
        )

    def _seen(self, seed: int, row: int) -> SeedScores:
        predicted = int(self.predicted[seed, row])
        stop = int(self._stops[row])
        units = slice(stop - int(self.lengths[row]), stop)
        scores = {name: self.scores[name].of(seed, row, units) for name in self.methods}
        return SeedScores(
            seed=self.seeds[seed],
            predicted=self.label_names[predicted],
            probabilities=tuple(self.probabilities[seed, row].tolist()),
            correct=predicted == int(self.labels[row]),
            scores={name: found for name, found in scores.items() if found is not None},
            measures=dict(zip(self.columns, _numbers(self.measures[seed, row]), strict=True)),
            without_top={name: _number(values[seed, row]) for name, values in self.without_top.items()},
        )

    def to_records(self) -> list[dict[str, Any]]:
        """One plain mapping for every example and seed, ready for JSON."""
        return [
            {
                "id": example.id,
                "seed": seen.seed,
                "units": list(example.units),
                "query": None if example.query is None else list(example.query),
                "rationale": None if example.rationale is None else list(example.rationale),
                "label": example.label,
                "predicted": seen.predicted,
                "correct": seen.correct,
                "probabilities": dict(zip(self.label_names, seen.probabilities, strict=True)),
                "scores": {name: list(values) for name, values in seen.scores.items()},
                "without_top": dict(seen.without_top),
                "measures": {column.title: value for column, value in seen.measures.items()},
            }
            for example in self
            for seen in example.seen
        ]

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame, one row for every example and seed, one column for every measure."""
        import pandas

        nested = ("probabilities", "scores", "without_top", "measures")
        prefixes = {"probabilities": "p ", "scores": "scores ", "without_top": "without top ", "measures": ""}
        return pandas.DataFrame(
            {key: value for key, value in record.items() if key not in nested}
            | {f"{prefixes[key]}{name}": value for key in nested for name, value in record[key].items()}
            for record in self.to_records()
        )


def _numbers(values: Array) -> tuple[float | None, ...]:
    return tuple(_number(value) for value in values.tolist())


def _number(value: float) -> float | None:
    """JSON has neither NaN nor infinity: what is not finite is None."""
    return float(value) if np.isfinite(value) else None
