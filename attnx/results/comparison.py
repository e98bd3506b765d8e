"""A comparison of runs: how each differs from the first, and which differences are significant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from .formatting import Interval, Number, format_number, interval_of, measure_name, with_arrow
from .judgement.records import Grade, Verdict
from .provenance import Record
from .result import Result
from .selection import NoSuchRow, arguments_of

ONE_SEED = "only one seed: the intervals cover other examples, and say nothing about retrained models"

DifferenceOutcome = Literal[
    "better", "worse", "higher", "lower", "no significant difference", "the same", "undefined"
]


class ComparedRun(Record):
    """A run that takes part."""

    letter: str
    run: str  # fingerprint
    labels: dict[str, str]
    seeds: tuple[int, ...]  # all of the run
    examples: int  # all of the run
    without: tuple[str, ...]  # measures of other runs that it does not have

    @property
    def title(self) -> str:
        """Task, model and projection in one line."""
        return " · ".join(self.labels.values())


class Difference(Record):
    """One measure of one run minus the same of the first, over the examples where both are defined."""

    run: str  # letter
    metric: str
    measure: str
    explanation: str | None  # None: of the model itself
    reference: str | None
    direction: Literal["up", "down", "none"]
    whole_split: bool  # one value for each seed, so that the interval is over seeds alone
    first: Number  # mean of the first run
    other: Number  # mean of this run
    difference: Number  # other − first
    low: Number  # 95 % interval of the difference, not corrected for multiple tests
    high: Number
    p: Number  # corrected for all rows of all runs (Holm)
    n: int  # pairs
    outcome: DifferenceOutcome

    @property
    def title(self) -> str:
        """Metric and measure with an arrow to the better side."""
        return with_arrow(measure_name(self.metric, self.measure), self.direction)

    @property
    def interval(self) -> Interval | None:
        """The ends of the interval; None where there is none."""
        return interval_of(self.low, self.high)

    @property
    def chance(self) -> str:
        """The corrected p-value as tables show it."""
        return "< .001" if self.p is not None and self.p < 0.001 else format_number(self.p)


class ComparedShare(Record):
    """How faithful an explanation of a run is; shares compare across models, tasks and removals."""

    run: str  # its letter
    explanation: str
    grade: Grade
    share: Number
    low: Number
    high: Number


class Comparison(Result):
    """How runs differ from the first of them on the same examples, and which differences are significant."""

    file_stem: ClassVar[str] = "comparison"

    runs: tuple[ComparedRun, ...]
    seeds: tuple[int, ...]  # that all runs have
    examples: int  # that all runs have
    shares: tuple[ComparedShare, ...] = ()  # of every run and explanation, the most faithful first
    rows: tuple[Difference, ...]
    notes: tuple[str, ...]  # what was not compared, and what the numbers do not show

    @property
    def significant(self) -> tuple[Difference, ...]:
        """The rows whose difference is significant after the correction."""
        return tuple(row for row in self.rows if row.outcome in ("better", "worse", "higher", "lower"))

    @property
    def tested(self) -> int:
        """How many rows have a p-value; each is corrected for all of them."""
        return sum(row.p is not None for row in self.rows)

    @property
    def title(self) -> str:
        """Task, model and projection, with all that there are where the runs differ."""
        found = [
            " and ".join(dict.fromkeys(run.labels.get(part, "") for run in self.runs))
            for part in self.runs[0].labels
        ]
        return " · ".join(found)

    def select(self, measure: str, **asked: Any) -> Difference:
        """The one row of that measure and of what else is asked for, e.g. reference="loo"."""
        wanted = {"measure": measure, **asked}
        found = [row for row in self.rows if wanted.items() <= row.model_dump().items()]
        if len(found) != 1:
            near = found or [row for row in self.rows if row.measure == measure] or self.rows
            known = "; ".join(f"{arguments_of(row)} of run {row.run}" for row in near)
            raise NoSuchRow(f"{len(found) or 'No'} rows for {wanted}; choose one of: {known}")
        return found[0]

    def records(self) -> list[dict[str, Any]]:
        """The differences, one row each."""
        return [row.model_dump() for row in self.rows]

    def __repr__(self) -> str:
        return f"<Comparison of {self.title}: {len(self.significant)} of {len(self.rows)} significant>"


def shares_of(verdicts: Mapping[str, Sequence[Verdict]]) -> tuple[ComparedShare, ...]:
    """How faithful every explanation of every run is, by letter, the most faithful first."""
    found = [
        ComparedShare(
            run=letter,
            explanation=v.explanation,
            grade=v.grade,
            share=v.share,
            low=v.share_low,
            high=v.share_high,
        )
        for letter, of_run in verdicts.items()
        for v in of_run
        if v.heading == "faithfulness" and v.share is not None
    ]
    return tuple(sorted(found, key=lambda one: -(one.share or 0.0)))
