"""A reproduction: measured and published values of a table or figure, and whether its claims hold."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from ..registry.experiments import SizeName
from .formatting import Interval, Number, interval_of
from .provenance import Record
from .report import Curve
from .result import Result

ClaimStatus = Literal["holds", "does not hold", "open", "undertrained"]


class Measured(Record):
    """One column of one row: the mean over seeds and examples with its 95 % interval; the printed value."""

    row: str
    column: str
    mean: Number
    low: Number
    high: Number
    seeds: tuple[Number, ...]  # the mean of each seed
    cells: int  # runs that it is a mean of
    published: Number  # in our unit

    @property
    def interval(self) -> Interval | None:
        """The ends of the interval; None where there is none."""
        return interval_of(self.low, self.high)


class Compared(Record):
    """One comparison that a claim asks for: a difference that it says is above 0."""

    what: str
    difference: Number
    low: Number  # 95 % interval
    high: Number
    status: ClaimStatus
    published: Number = None  # the same difference of the printed values
    seeds_needed: int | None = None  # about how many would decide it, at this difference and spread

    @property
    def interval(self) -> Interval | None:
        """The ends of the interval; None where there is none."""
        return interval_of(self.low, self.high)


class ClaimFound(Record):
    """A claim of the paper, and whether it holds here."""

    says: str
    status: ClaimStatus
    compared: tuple[Compared, ...]
    missing: int  # comparisons of rows that were not run
    reason: str = ""  # why it is not decided
    next_step: str = ""  # what would decide it


class TrainedModel(Record):
    """How well the models of one cell were trained, as means over the seeds."""

    row: str
    task: str
    model: str
    accuracy: Number  # on test
    constant: Number  # accuracy of always predicting the most frequent label of test
    published: Number  # accuracy, on the whole data
    moved: Number  # share of the attention weight that training moved; None without attention
    undertrained: str = ""  # why it counts as undertrained


class SkippedRows(Record):
    """Rows without a result, and why."""

    rows: tuple[str, ...]
    reason: str


class ColumnShown(Record):
    """A column as tables show it."""

    name: str
    digits: int
    given: bool  # a setting of the paper's, not a result


class Reproduction(Result):
    """Everything that was measured for one table or figure of a paper."""

    file_stem: ClassVar[str] = "reproduction"

    experiment: str
    summary: str
    source: str
    size: SizeName
    command: str
    date: str
    seeds: tuple[int, ...]
    data: dict[str, str]  # by task: how many examples, and which
    training: dict[str, str]  # settings in which the size differs from the models' own
    columns: tuple[ColumnShown, ...]
    rows: tuple[str, ...]  # that were run
    values: tuple[Measured, ...]
    claims: tuple[ClaimFound, ...]  # none of a smoke test
    trained: tuple[TrainedModel, ...] = ()
    curves: tuple[Curve, ...] = ()  # of every row, which `explanation` names
    left_out: tuple[SkippedRows, ...]
    ours: tuple[str, ...]  # what the paper does not say, and we chose
    runs: tuple[str, ...]  # names of the runs behind it
    seconds: float

    @property
    def tested(self) -> tuple[ClaimFound, ...]:
        """The claims of which something was measured."""
        return tuple(claim for claim in self.claims if claim.compared)

    def value(self, row: str, column: str) -> Measured:
        """What was measured of a column in a row."""
        return next(v for v in self.values if (v.row, v.column) == (row, column))

    def records(self) -> list[dict[str, Any]]:
        """The measured values, one row each."""
        return [value.model_dump() for value in self.values]

    def __repr__(self) -> str:
        said = ", ".join(f"{c.status}: {c.says}" for c in self.tested)
        return f"<Reproduction of {self.source} ({self.size}); {said or 'no claims'}>"
