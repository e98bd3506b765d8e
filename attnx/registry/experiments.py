"""Experiments of registry.yaml: a table or figure of a paper with its grid, values and claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

SizeName = Literal["small", "standard", "paper"]
SIZES: tuple[SizeName, ...] = get_args(SizeName)
DEFAULT_SIZE: SizeName = "standard"
SMOKE_TEST: SizeName = "small"  # shows that everything runs; its models decide nothing


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_several)]


class Column(_Section):
    """A measured quantity: where to find it in a report or study, and the paper's unit."""

    measure: str  # of a metric or a finding; "accuracy" is that of the model
    setting: str = ""  # of a finding; {name} is the value of the row in a given column
    explanation: str = ""
    reference: str = ""
    at: float | None = None  # the curve of attention that the metric `measure` draws, at this point
    scale: float = 1.0  # factor from the paper's unit to ours
    digits: int = Field(2, ge=0)  # decimals in tables
    given: bool = False  # a setting of the row, published or chosen, not a result


class Row(_Section):
    """One cell of the grid with the published values, by column.

    If there are several tasks or models, the values summarise all of them.
    """

    task: Names = ()  # empty: the task of the experiment
    model: Names = ()
    projection: str = ""  # empty: the default of the model or the study
    training: dict[str, Any] = Field(default_factory=dict)
    published: dict[str, float] = Field(default_factory=dict)
    chosen: dict[str, float] = Field(
        default_factory=dict
    )  # by us: values of given columns that are not published


class Claim(_Section):
    """A conclusion of a paper, in words and as one comparison (above, below, greater or higher)."""

    says: str
    column: str = ""
    rows: tuple[str, ...] = ()  # the rows it covers; empty: all
    above: float | None = None  # the column is above this value in every row
    below: float | None = None
    greater: tuple[str, str] | None = None  # the first column is above the second in every row
    higher: Names = ()  # in this column, each of these rows is above each row of `than`
    than: Names = ()

    @model_validator(mode="after")
    def _one_comparison(self) -> Claim:
        given = [self.above is not None, self.below is not None, self.greater is not None, bool(self.higher)]
        if sum(given) != 1:
            raise ValueError("a claim needs exactly one of above, below, greater and higher")
        if bool(self.higher) != bool(self.than):
            raise ValueError("higher and than belong together: give both")
        if (self.greater is None) == (not self.column):
            raise ValueError("a claim needs a column, or the two columns of greater")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the claim compares."""
        return self.greater or (self.column,)

    @property
    def named_rows(self) -> tuple[str, ...]:
        """The rows that the claim names."""
        return (*self.rows, *self.higher, *self.than)


class Settings(_Section):
    """Options of models, of those that take them, and settings of training."""

    options: dict[str, Any] = Field(default_factory=dict)
    training: dict[str, Any] = Field(default_factory=dict)


class Size(Settings):
    """How much of an experiment is run, and how long it takes."""

    tasks: dict[str, str] = Field(
        default_factory=dict
    )  # with options and limits; empty: all tasks, full size
    rows: tuple[str, ...] = ()  # empty: all rows of these tasks
    study: Names = ()  # the study with other options than those of the experiment
    by_task: dict[str, Settings] = Field(default_factory=dict)  # instead, for a task of that name
    seeds: str = "0-2"
    minutes: float | None = None  # on two cores, measured or estimated; None: unknown


class Experiment(_Section):
    """A table or figure of a paper."""

    summary: str
    source: str  # the paper, and the table or figure
    study: Names = ()  # studies to run; if empty, an evaluation with:
    metrics: tuple[str, ...] = ()
    explanations: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    task: Names = ()
    columns: dict[str, Column]
    rows: dict[str, Row]
    claims: tuple[Claim, ...] = ()
    free: tuple[str, ...] = ()  # options of task and model that may differ from the paper
    draws: tuple[str, ...] = ()  # metrics whose curves are drawn; training curves are drawn by row
    ours: tuple[str, ...] = ()  # choices of ours that the paper leaves open
    small: Size = Size()
    standard: Size = Size()
    paper: Size = Size()

    @model_validator(mode="after")
    def _names_agree(self) -> Experiment:
        wanted = {name for row in self.rows.values() for name in row.published}
        wanted |= {name for claim in self.claims for name in claim.columns}
        wanted |= {name for row in self.rows.values() for name in row.chosen}
        for name in wanted - self.columns.keys():
            raise ValueError(f"'{name}' is not a column of the experiment")
        for row in self.rows.values():
            for name in row.chosen:
                if name in row.published or not self.columns[name].given:
                    raise ValueError(
                        f"'{name}' can be chosen only in a given column without a published value"
                    )
        named = {name for claim in self.claims for name in claim.named_rows}
        for name in (named | {row for size in self.sizes for row in size.rows}) - self.rows.keys():
            raise ValueError(f"'{name}' is not a row of the experiment")
        tasks = {task.partition(":")[0] for row in self.rows.values() for task in self.tasks(row)}
        sized = {task.partition(":")[0] for size in self.sizes for task in size.tasks}
        for name in sized - tasks:
            raise ValueError(f"'{name}' is not a task of the experiment")
        return self

    @property
    def sizes(self) -> tuple[Size, ...]:
        """What is run at each size, in the order of SIZES."""
        return self.small, self.standard, self.paper

    def size(self, name: SizeName) -> Size:
        """What is run at this size."""
        return self.sizes[SIZES.index(name)]

    def tasks(self, row: Row) -> tuple[str, ...]:
        """The tasks of a row."""
        return row.task or self.task

    def value(self, row: Row, column: str) -> float | None:
        """The published value of a row, in our unit."""
        printed = row.published.get(column)
        return None if printed is None else self.columns[column].scale * printed

    def filled(self, text: str, row: Row) -> str:
        """A text in which {name} is replaced by the row's value in that given column."""
        for name in (name for name, column in self.columns.items() if column.given):
            value = row.chosen.get(name, self.value(row, name))
            text = text.replace(f"{{{name}}}", "" if value is None else f"{value:g}")
        return text

    def results(self) -> Iterator[str]:
        """The columns that are measured."""
        return (name for name, column in self.columns.items() if not column.given)
