"""What registry.yaml says of a paper's table or figure: the grid behind it, its values and its claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

SizeName = Literal["small", "paper"]
SIZES: tuple[SizeName, ...] = get_args(SizeName)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_several)]


class Column(_Section):
    """A measured quantity: where a report or a study has it, and in which unit the paper prints it."""

    measure: str  # of a metric or a finding; "accuracy" is the model's own
    setting: str = ""  # of a finding; {name} is what the row has in a column that is given
    explanation: str = ""
    reference: str = ""
    scale: float = 1.0  # what a printed value is multiplied by to be in our unit
    digits: int = Field(2, ge=0)  # decimals in tables
    given: bool = False  # a setting of the row that the paper names, not a result


class Row(_Section):
    """One cell of the grid, and the values that were printed for it, by column.

    Where there are several tasks or models, the values are of all of them together.
    """

    task: Names = ()  # none: that of the experiment
    model: Names = ()
    projection: str = ""  # empty: the model's usual one, or one that the study chooses
    training: dict[str, Any] = Field(default_factory=dict)
    published: dict[str, float] = Field(default_factory=dict)


class Claim(_Section):
    """What a paper concludes, in words and as a comparison: exactly one of the last four."""

    says: str
    column: str = ""
    rows: tuple[str, ...] = ()  # that it is about; none: all
    above: float | None = None  # the column, in every row
    below: float | None = None
    greater: tuple[str, str] | None = None  # the first of two columns, in every row
    higher: Names = ()  # rows of the column, each above every one of `than`
    than: Names = ()

    @model_validator(mode="after")
    def _one_comparison(self) -> Claim:
        given = [self.above is not None, self.below is not None, self.greater is not None, bool(self.higher)]
        if sum(given) != 1:
            raise ValueError("a claim is one of above, below, greater and higher")
        if bool(self.higher) != bool(self.than):
            raise ValueError("rows are higher than others: give both higher and than")
        if (self.greater is None) == (not self.column):
            raise ValueError("a claim is about a column, or about the two of greater")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it compares."""
        return self.greater or (self.column,)

    @property
    def named_rows(self) -> tuple[str, ...]:
        """The rows that it names."""
        return (*self.rows, *self.higher, *self.than)


class Size(_Section):
    """How much of an experiment is run, and how long that takes."""

    tasks: dict[str, str] = Field(default_factory=dict)  # with options, and limits; none: all, whole
    rows: tuple[str, ...] = ()  # none: all of these tasks
    study: Names = ()  # with other options than the experiment's
    training: dict[str, Any] = Field(default_factory=dict)
    seeds: str = "0-2"
    minutes: float | None = None  # on two cores: measured, or reckoned from what is; None: not known


class Experiment(_Section):
    """A table or figure of a paper."""

    summary: str
    source: str  # the paper, and the place in it
    study: Names = ()  # that make it, or else an evaluation with:
    metrics: tuple[str, ...] = ()
    explanations: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    task: Names = ()
    columns: dict[str, Column]
    rows: dict[str, Row]
    claims: tuple[Claim, ...] = ()
    free: tuple[str, ...] = ()  # options of task and model in which ours may differ from the paper's
    draws: tuple[
        str, ...
    ] = ()  # metrics whose curves are drawn: the course of training by row, others together
    ours: tuple[str, ...] = ()  # what the paper does not say, and we chose
    small: Size = Size()
    paper: Size = Size()

    @model_validator(mode="after")
    def _names_agree(self) -> Experiment:
        wanted = {name for row in self.rows.values() for name in row.published}
        wanted |= {name for claim in self.claims for name in claim.columns}
        for name in wanted - self.columns.keys():
            raise ValueError(f"'{name}' is not one of its columns")
        named = {name for claim in self.claims for name in claim.named_rows}
        for name in (named | {*self.small.rows, *self.paper.rows}) - self.rows.keys():
            raise ValueError(f"'{name}' is not one of its rows")
        tasks = {task.partition(":")[0] for row in self.rows.values() for task in self.tasks(row)}
        sized = {task.partition(":")[0] for size in (self.small, self.paper) for task in size.tasks}
        for name in sized - tasks:
            raise ValueError(f"'{name}' is not one of its tasks")
        return self

    def size(self, name: SizeName) -> Size:
        """How much is run of it at that size."""
        return self.small if name == "small" else self.paper

    def tasks(self, row: Row) -> tuple[str, ...]:
        """The tasks that a row is about."""
        return row.task or self.task

    def value(self, row: Row, column: str) -> float | None:
        """What was published of a row, in our unit."""
        printed = row.published.get(column)
        return None if printed is None else self.columns[column].scale * printed

    def filled(self, text: str, row: Row) -> str:
        """A text with what the row has in columns that are given, as {name}."""
        given = ((name, self.value(row, name)) for name, column in self.columns.items() if column.given)
        for name, value in given:
            text = text.replace(f"{{{name}}}", "" if value is None else f"{value:g}")
        return text

    def results(self) -> Iterator[str]:
        """The columns that are measured."""
        return (name for name, column in self.columns.items() if not column.given)
