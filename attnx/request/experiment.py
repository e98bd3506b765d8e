"""What is run for a paper's table or figure at a size; nothing heavy is imported."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ..errors import UsageError, did_you_mean
from ..registry.experiments import DEFAULT_SIZE, SIZES, Experiment, Row, Size, SizeName
from .parsing import parse_seeds, read_seeds, validated
from .spec import Choice, Limit, RunSpec


@dataclass(frozen=True, slots=True, eq=False)
class RowCell:
    """A task and a model of one row, and the studies on them if it is not an evaluation."""

    row: str
    asked: RunSpec
    studies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """The cells of an experiment at a size, and the rows that this size does not run."""

    name: str
    experiment: Experiment
    size: SizeName
    seeds: tuple[int, ...]
    cells: tuple[RowCell, ...]
    left_out: tuple[str, ...]  # rows that this size does not have
    tasks: tuple[str, ...] = ()  # only these were asked for; empty: all of the size
    rows: tuple[str, ...] = ()
    not_asked: tuple[str, ...] = ()  # rows of this size that were not asked for

    @property
    def command(self) -> str:
        """The command that a person types for it."""
        usual = self.seeds == parse_seeds(self.experiment.size(self.size).seeds)
        seeds = "" if usual else f" --seeds {','.join(map(str, self.seeds))}"
        size = "" if self.size == DEFAULT_SIZE else f" --size {self.size}"
        only = [("--task", task) for task in self.tasks] + [("--row", row) for row in self.rows]
        chosen = "".join(f" {option} {shlex.quote(value)}" for option, value in only)
        return f"attnx reproduce {self.name}{size}{chosen}{seeds}"


def find_experiment(known: Mapping[str, Experiment], name: str) -> Experiment:
    """The experiment of that name; an error names the nearest one."""
    if name not in known:
        nearest = did_you_mean(name, known)
        raise UsageError(f"Unknown experiment '{name}'.{nearest} See 'attnx reproduce --list'.")
    return known[name]


def plan_experiment(
    name: str,
    experiment: Experiment,
    size: str = DEFAULT_SIZE,
    seeds: Sequence[int] | str | None = None,
    *,
    tasks: Sequence[str] = (),
    rows: Sequence[str] = (),
) -> ExperimentPlan:
    """Plan an experiment at a size, with other seeds than that size's, or only some of it, if asked for."""
    chosen = next((known for known in SIZES if known == size), None)
    if chosen is None:
        raise UsageError(f"Unknown size '{size}'.{did_you_mean(size, SIZES)} Sizes: {', '.join(SIZES)}.")
    amount = experiment.size(chosen)
    numbers = read_seeds(amount.seeds if seeds is None or seeds == "" else seeds)
    of_size = tuple(
        cell
        for row in experiment.rows
        if not amount.rows or row in amount.rows
        for cell in _cells(experiment, row, amount, numbers)
    )
    _require(tasks, {cell.asked.task.name for cell in of_size if cell.asked.task}, "task", name, chosen)
    _require(rows, {cell.row for cell in of_size}, "row", name, chosen)
    cells = tuple(
        cell
        for cell in of_size
        if (not rows or cell.row in rows)
        and (not tasks or (cell.asked.task is not None and cell.asked.task.name in tasks))
    )
    if not cells:
        raise UsageError(f"No row of '{name}' has both the tasks and the rows that were asked for.")
    known, run = {cell.row for cell in of_size}, {cell.row for cell in cells}
    return ExperimentPlan(
        name,
        experiment,
        chosen,
        numbers,
        cells,
        left_out=tuple(row for row in experiment.rows if row not in known),
        tasks=tuple(tasks),
        rows=tuple(rows),
        not_asked=tuple(row for row in experiment.rows if row in known - run),
    )


def _require(asked: Sequence[str], known: Collection[str], what: str, name: str, size: str) -> None:
    for one in asked:
        if one not in known:
            nearest = did_you_mean(one, sorted(known))
            raise UsageError(f"'{name}' has no {what} '{one}' at the size '{size}'.{nearest}")


def _cells(experiment: Experiment, name: str, size: Size, seeds: tuple[int, ...]) -> Iterator[RowCell]:
    row = experiment.rows[name]
    for (task, limit), model in product(_tasks(experiment, row, size), row.model or ("",)):
        settings = size.by_task.get(task.name, size)
        asked = validated(
            task=task,
            model=_with_options(model, settings.options) if model else None,
            projection=row.projection or None,
            metrics=experiment.metrics,
            explanations=experiment.explanations,
            references=experiment.references,
            training={**settings.training, **row.training},
            seeds=seeds,
            limit=limit,
            sample="all",
        )
        studies = tuple(experiment.filled(study, row) for study in size.study or experiment.study)
        yield RowCell(name, asked, studies)


def _with_options(model: str, options: Mapping[str, Any]) -> Choice:
    """A model with the options of the size; its own come first."""
    asked = Choice.parse(model)
    return Choice(name=asked.name, options={**{k: str(v) for k, v in options.items()}, **asked.options})


def _tasks(experiment: Experiment, row: Row, size: Size) -> Iterator[tuple[Choice, Limit]]:
    """The tasks of a row at this size: the row's options, then those of the size."""
    if not size.tasks:
        yield from ((Choice.parse(task), Limit()) for task in experiment.tasks(row))
    for text, limit in size.tasks.items():
        taken = Choice.parse(text)
        for task in map(Choice.parse, experiment.tasks(row)):
            if task.name == taken.name:
                options = {**task.options, **taken.options}
                yield Choice(name=task.name, options=options), Limit.parse(limit) if limit else Limit()
