"""What registry.yaml says of a paper's table or figure: the grid behind it, its values and its claims."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_several)]


class Column(_Section):
    """A measured quantity: where a report or a study has it, and in which unit the paper prints it."""

    measure: str  # of a metric or a finding; "accuracy" is the model's own
    setting: str = ""  # of a finding
    explanation: str = ""
    reference: str = ""
    scale: float = 1.0  # what a printed value is multiplied by to be in our unit


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
    above: float | None = None  # the column, in every row
    below: float | None = None
    greater: tuple[str, str] | None = None  # the first of two columns, in every row
    order: tuple[str, ...] = ()  # rows of the column, from the highest to the lowest

    @model_validator(mode="after")
    def _one_comparison(self) -> Claim:
        given = [self.above is not None, self.below is not None, self.greater is not None, bool(self.order)]
        if sum(given) != 1:
            raise ValueError("a claim is one of above, below, greater and order")
        if (self.greater is None) == (not self.column):
            raise ValueError("a claim is about a column, or about the two of greater")
        return self


class Experiment(_Section):
    """A table or figure of a paper."""

    summary: str
    source: str  # the paper, and the place in it
    study: str = ""  # that makes it, or else an evaluation with:
    metrics: tuple[str, ...] = ()
    explanations: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    task: Names = ()
    columns: dict[str, Column]
    rows: dict[str, Row]
    claims: tuple[Claim, ...] = ()
    free: tuple[str, ...] = ()  # options of task and model in which ours may differ from the paper's

    @model_validator(mode="after")
    def _names_agree(self) -> Experiment:
        wanted = {name for row in self.rows.values() for name in row.published}
        wanted |= {name for c in self.claims for name in (c.greater or (c.column,))}
        for name in wanted - self.columns.keys():
            raise ValueError(f"'{name}' is not one of its columns")
        for name in {name for c in self.claims for name in c.order} - self.rows.keys():
            raise ValueError(f"'{name}' is not one of its rows")
        return self

    def tasks(self, row: Row) -> tuple[str, ...]:
        """The tasks that a row is about."""
        return row.task or self.task

    def value(self, row: Row, column: str) -> float | None:
        """What was published of a row, in our unit."""
        printed = row.published.get(column)
        return None if printed is None else self.columns[column].scale * printed
