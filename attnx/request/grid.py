"""A grid: the product of tasks, models, projections and training settings, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from ..errors import UsageError
from ..host.catalog import Catalog
from .cell_choices import AXES, CellChoices
from .option_text import write_options
from .parsing import field_error, parse_seeds, read_fields
from .plan import Plan
from .resolve import resolve
from .spec import Choice, Limit, Options, RunSpec, Sample

MOST_CELLS = 10_000


def _several(value: Any) -> Any:
    """A single value is a list of one."""
    return list(value) if isinstance(value, list | tuple) else [value]


def _choices(value: Any) -> Any:
    return [Choice.parse(one) if isinstance(one, str) else one for one in _several(value)]


def _trainings(value: Any) -> Any:
    given = _several(value)
    return [Choice.parse(f"training:{one}").options if isinstance(one, str) else one for one in given]


Choices = Annotated[tuple[Choice, ...], BeforeValidator(_choices)]


class Grid(Options):
    """What a sweep is asked to do: every axis is a list, and the cells are their product."""

    task: Annotated[Choices, Field(min_length=1)]
    model: Choices = ()  # empty: what each task recommends
    projection: Choices = ()  # empty: what each model's composition says
    training: Annotated[tuple[dict[str, Any], ...], BeforeValidator(_trainings)] = ({},)
    explanations: Choices = ()  # measured in every cell
    references: Choices = ()
    metrics: Choices = ()
    seeds: tuple[int, ...] = (0,)
    limit: Limit = Limit()
    sample: Sample = "auto"
    device: str = "auto"

    def specs(self) -> Iterator[RunSpec]:
        """The specs of all cells; the last axis varies fastest."""
        shared = {name: getattr(self, name) for name in type(self).model_fields if name not in AXES}
        for task, model, projection, training in product(
            self.task, self.model or (None,), self.projection or (None,), self.training or ({},)
        ):
            yield RunSpec(task=task, model=model, projection=projection, training=training, **shared)


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One point of a grid: what is asked there, and its plan."""

    asked: RunSpec
    plan: Plan

    @property
    def choices(self) -> CellChoices:
        """The components of the plan, and the training settings that set the cell apart."""
        chosen = {part.kind: part.asked or Choice(name=part.label) for part in self.plan.trained}
        return CellChoices.model_validate({**chosen, "training": self.asked.training})

    @property
    def title(self) -> str:
        """Task, model, projection and training, as far as they are given."""
        return _title(self.asked)


@dataclass(frozen=True, slots=True)
class RefusedCell:
    """A cell whose components do not fit together, and why."""

    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The cells of a grid that can be run, each once, and those that cannot."""

    cells: tuple[Cell, ...]
    refused: tuple[RefusedCell, ...]

    @property
    def training_runs(self) -> int:
        """How many models are trained: one for every seed of every cell."""
        return sum(len(cell.asked.seeds) for cell in self.cells)


def _training(spec: RunSpec) -> str:
    return write_options(spec.training)


def _title(spec: RunSpec) -> str:
    chosen = (spec.task, spec.model, spec.projection)
    return " · ".join(filter(None, [*(choice.label for choice in chosen if choice), _training(spec)]))


def read_grid(asked: dict[str, Any], file: Path | None) -> Grid:
    """Read the grid of a file; what is asked elsewhere takes the place of the same keys."""
    fields = {**(read_fields(file, Grid) if file else {}), **asked}
    if isinstance(fields.get("seeds"), str):
        fields["seeds"] = parse_seeds(fields["seeds"])
    elif isinstance(fields.get("seeds"), int):
        fields["seeds"] = (fields["seeds"],)
    if isinstance(fields.get("limit"), str | int):
        fields["limit"] = Limit.parse(str(fields["limit"]))
    try:
        grid = Grid.model_validate(fields)
    except ValidationError as error:
        raise UsageError(field_error(error, f"{file}: " if file else "")) from error
    size = prod(max(1, len(getattr(grid, axis))) for axis in AXES)
    if size > MOST_CELLS:
        raise UsageError(f"The grid has {size} cells, more than {MOST_CELLS}: make it smaller.")
    return grid


def plan_sweep(grid: Grid, catalog: Catalog) -> SweepPlan:
    """Resolve every cell of a grid, each once.

    A name that nothing has is an error of the whole grid, not of a cell.
    """
    for kind, choices in (("task", grid.task), ("projection", grid.projection)):
        for choice in choices:
            catalog.find(kind, choice.name)  # type: ignore[arg-type]
    for choice in grid.model:
        catalog.find_model(choice.name)
    cells: dict[str, Cell] = {}
    refused: list[RefusedCell] = []
    for spec in grid.specs():
        try:
            plan = resolve(spec, catalog)
        except UsageError as error:
            refused.append(RefusedCell(_title(spec), str(error)))
        else:
            cells.setdefault(plan.spec.canonical(), Cell(spec, plan))
    if not cells:
        raise UsageError(f"No cell of the grid can be run; the first: {refused[0].reason}")
    return SweepPlan(tuple(cells.values()), tuple(refused))
