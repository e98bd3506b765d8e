"""A grid: the product of tasks, models, projections and trainings, cell by cell."""

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
from .parsing import parse_seeds, read_fields
from .resolve import resolve
from .spec import Choice, Limit, Options, RunSpec

MOST_CELLS = 10_000


def _several(value: Any) -> Any:
    """One thing is a list of one."""
    return list(value) if isinstance(value, list | tuple) else [value]


def _choices(value: Any) -> Any:
    return [Choice.parse(one) if isinstance(one, str) else one for one in _several(value)]


def _trainings(value: Any) -> Any:
    given = _several(value)
    return [Choice.parse(f"training:{one}").options if isinstance(one, str) else one for one in given]


Choices = Annotated[tuple[Choice, ...], BeforeValidator(_choices)]


class Grid(Options):
    """What a sweep is asked to do: every axis is a list, and cells are their product."""

    task: Annotated[Choices, Field(min_length=1)]
    model: Choices = ()  # empty: what each task recommends
    projection: Choices = ()  # empty: what each model's composition says
    training: Annotated[tuple[dict[str, Any], ...], BeforeValidator(_trainings)] = ({},)
    explanations: Choices = ()  # measured in every cell
    references: Choices = ()
    metrics: Choices = ()
    seeds: tuple[int, ...] = (0,)
    limit: Limit = Limit()
    device: str = "auto"

    def cells(self) -> Iterator[RunSpec]:
        """The specs of all cells, the last axis running fastest."""
        shared = {
            name: getattr(self, name)
            for name in ("explanations", "references", "metrics", "seeds", "limit", "device")
        }
        for task, model, projection, training in product(
            self.task, self.model or (None,), self.projection or (None,), self.training or ({},)
        ):
            yield RunSpec(task=task, model=model, projection=projection, training=training, **shared)


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of a grid: what is asked there."""

    asked: RunSpec

    @property
    def training(self) -> str:
        """The training settings that set it apart, as a person types them."""
        return ",".join(f"{key}={value}" for key, value in self.asked.training.items())

    @property
    def title(self) -> str:
        """Task, model, projection and training, as far as they were named."""
        chosen = (self.asked.task, self.asked.model, self.asked.projection)
        return " · ".join(filter(None, [*(choice.label for choice in chosen if choice), self.training]))


@dataclass(frozen=True, slots=True)
class Refused:
    """A cell that makes no sense, and why."""

    cell: Cell
    reason: str


def read_grid(asked: dict[str, Any], file: Path | None) -> Grid:
    """The grid of a file, with what was asked on the command line in its place."""
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
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        origin = f"{file}: " if file else ""
        raise UsageError(f"Bad value for {origin}{key}: {first['msg']}.") from error
    size = prod(max(1, len(axis)) for axis in (grid.task, grid.model, grid.projection, grid.training))
    if size > MOST_CELLS:
        raise UsageError(f"The grid has {size} cells, more than {MOST_CELLS}: make it smaller.")
    return grid


def sort_out(grid: Grid, catalog: Catalog) -> tuple[list[Cell], list[Refused]]:
    """The cells that make sense, each once, and the others with the reason.

    A name that nothing has is a mistake of the whole grid, not of a cell.
    """
    for kind, choices in (("task", grid.task), ("projection", grid.projection)):
        for choice in choices:
            catalog.find(kind, choice.name)  # type: ignore[arg-type]
    for choice in grid.model:
        catalog.find_model(choice.name)
    cells: dict[str, Cell] = {}
    refused: list[Refused] = []
    for spec in grid.cells():
        try:
            plan = resolve(spec, catalog)
        except UsageError as error:
            refused.append(Refused(Cell(spec), str(error)))
        else:
            cells.setdefault(plan.spec.canonical(), Cell(spec))
    if not cells:
        raise UsageError(f"No cell of the grid makes sense; the first: {refused[0].reason}")
    return list(cells.values()), refused
