"""The report of a sweep: a row for every explanation in every cell, and what could not be done."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import PrivateAttr

from ..errors import UsageError
from ..request.cell_choices import AXES, CellChoices
from ..request.option_text import choice_label
from .comparison import Comparison
from .formatting import measure_name, with_arrow
from .judgement.records import Grade, VerdictRow
from .provenance import Record
from .report import Report
from .result import Result


class Value(Record):
    """A measure of one explanation with its interval and the same of random scores."""

    mean: float | None
    low: float | None
    high: float | None
    random: float | None
    direction: Literal["up", "down", "none"] = "none"  # the better side


class SweepRow(Record):
    """One explanation in one cell."""

    choices: CellChoices
    explanation: str
    run: str  # fingerprint
    accuracy: float
    faithfulness: Grade | None
    share: float | None = None  # of the way from random to best; rows are ordered by it
    share_low: float | None = None
    share_high: float | None = None
    interpretability: Grade | None
    values: dict[str, Value]  # by measure and reference

    @property
    def task(self) -> str:
        """The task as a person types it."""
        return self.choices.label_of("task")

    @property
    def model(self) -> str:
        """The model as a person types it."""
        return self.choices.label_of("model")

    @property
    def projection(self) -> str:
        """The projection as a person types it; empty if the model has none."""
        return self.choices.label_of("projection")

    @property
    def training(self) -> str:
        """The training settings that set the cell apart, as a person types them."""
        return self.choices.label_of("training")

    @property
    def cell(self) -> str:
        """Task, model, projection and the training settings that set it apart."""
        return " · ".join(filter(None, (getattr(self, axis) for axis in AXES)))


class UnfinishedCell(Record):
    """A cell without a result, and why."""

    cell: str
    reason: str


class SweepReport(Result):
    """Everything a sweep found."""

    file_stem: ClassVar[str] = "sweep"

    rows: tuple[SweepRow, ...]
    refused: tuple[UnfinishedCell, ...]  # incompatible combinations
    failed: tuple[UnfinishedCell, ...]
    seconds: float
    workers: int
    _find: Any = PrivateAttr(default=None)  # reads the report of a cell
    _folder: Path | None = PrivateAttr(default=None)  # where the pages of the cells are

    def with_runs(self, find: Callable[[str], Report | None], folder: Path) -> SweepReport:
        """The same report with what reads those of its cells, and the folder that they are in."""
        report = self.model_copy()
        report._find, report._folder = find, folder
        return report

    @property
    def ranked(self) -> tuple[SweepRow, ...]:
        """The rows of each task, the most faithful first; those without a share last."""
        tasks = list(dict.fromkeys(row.task for row in self.rows))
        return tuple(
            sorted(self.rows, key=lambda row: (tasks.index(row.task), row.share is None, -(row.share or 0.0)))
        )

    @property
    def measures(self) -> dict[str, str]:
        """The measures of any row, each with an arrow to the better side."""
        return {
            name: with_arrow(name, value.direction) for row in self.rows for name, value in row.values.items()
        }

    @property
    def varying(self) -> tuple[str, ...]:
        """The axes in which cells differ, without the model where each task has its own."""
        own = len({(row.task, row.model) for row in self.rows}) == len({row.task for row in self.rows})
        return tuple(
            axis
            for axis in AXES
            if len({getattr(row, axis) for row in self.rows}) > 1 and not (axis == "model" and own)
        )

    def shared_options(self, axis: str) -> dict[str, Any]:
        """The options that all values of an axis have, as task options or training settings."""
        values = [*{getattr(row, axis): row.choices.options_of(axis) for row in self.rows}.values()]
        if len(values) < 2:
            return {}
        first, *others = values
        return {
            name: value
            for name, value in first.items()
            if all(name in other and other[name] == value for other in others)
        }

    def short(self, row: SweepRow, axis: str) -> str:
        """What a row has on an axis, without the options that all others have there too."""
        shared, given = self.shared_options(axis), row.choices.options_of(axis)
        left = {name: value for name, value in given.items() if name not in shared}
        return choice_label(row.choices.name_of(axis), left) or "as given"

    def apart(self, row: SweepRow) -> str:
        """What sets the cell of a row apart from the others."""
        return " · ".join(self.short(row, axis) for axis in self.varying) or row.cell

    def records(self) -> list[dict[str, Any]]:
        """The rows: cell, verdicts, and mean and interval of every measure."""
        rows = []
        for row in self.rows:
            found: dict[str, Any] = {axis: getattr(row, axis) for axis in AXES}
            found |= row.model_dump(exclude={"values", "choices"})
            for name, value in row.values.items():
                found |= {name: value.mean, f"{name}, low": value.low, f"{name}, high": value.high}
            rows.append(found)
        return rows

    def comparisons(self) -> tuple[Comparison, ...]:
        """Every cell compared with the first of its task, example by example, as by `attnx.compare`.

        A comparison has at most 26 runs; a task with more has several, each with the first run.
        """
        from .paired_differences import LETTERS, compare_reports

        by_task: dict[str, list[str]] = {}
        for run, row in {row.run: row for row in self.rows}.items():
            by_task.setdefault(row.task, []).append(run)
        found: list[Comparison] = []
        for first, *others in by_task.values():
            for start in range(0, len(others), len(LETTERS) - 1):
                runs = [first, *others[start : start + len(LETTERS) - 1]]
                found.append(compare_reports([self._report(run) for run in runs]))
        return tuple(found)

    def _report(self, run: str) -> Report:
        found: Report | None = self._find(run) if self._find else None
        if found is None:
            raise UsageError(f"Run {run} of this sweep has been deleted: run the sweep again.")
        return found

    def page_in(self, folder: Path) -> str:
        """The page with links from that folder to the pages of the runs."""
        from .rendering import page_of

        links = {
            row.run: Path(os.path.relpath(page, folder)).as_posix()
            for row in self.rows
            if self._folder and (page := self._folder / row.run / "report.html").is_file()
        }
        return page_of(self, links=links)

    def __repr__(self) -> str:
        cells = len({row.run for row in self.rows})
        return f"<SweepReport: {cells} cells, {len(self.failed)} failed, {len(self.refused)} left out>"


def verdict_values(report: Report) -> dict[str, dict[str, Value]]:
    """The values that are compared with random scores, by explanation, then by measure and reference."""
    found: dict[str, dict[str, Value]] = {}
    for family in report.evidence:
        for row in family.rows:
            title = measure_name(row.metric, row.measure)
            name = f"{title} with {row.reference}" if row.reference else title
            found.setdefault(family.explanation, {})[name] = _value(report, family.explanation, row)
    return found


def rows_of(report: Report, choices: CellChoices) -> list[SweepRow]:
    """The rows of one cell's report."""
    accuracy = sum(quality.accuracy for quality in report.quality) / len(report.quality)
    found = verdict_values(report)
    answers = {(v.explanation, v.heading): v for v in report.verdicts if v.share is not None}
    asked = (s.explanation for s in report.summaries if s.explanation is not None and not s.yardstick)
    explanations = dict.fromkeys([*found, *asked])
    rows = []
    for explanation in explanations:
        faithful = answers.get((explanation, "faithfulness"))
        readable = answers.get((explanation, "interpretability"))
        rows.append(
            SweepRow(
                choices=choices,
                explanation=explanation,
                run=report.fingerprint,
                accuracy=accuracy,
                faithfulness=faithful.grade if faithful else None,
                share=faithful.share if faithful else None,
                share_low=faithful.share_low if faithful else None,
                share_high=faithful.share_high if faithful else None,
                interpretability=readable.grade if readable else None,
                values=found.get(explanation, {}),
            )
        )
    return rows


def _value(report: Report, explanation: str, row: VerdictRow) -> Value:
    wanted = (row.metric, row.measure, row.reference, "all")
    summary = next(
        s
        for s in report.summaries
        if (s.metric, s.measure, s.reference, s.group) == wanted and s.explanation in (explanation, None)
    )
    return Value(
        mean=summary.mean,
        low=summary.low,
        high=summary.high,
        random=row.random,
        direction=summary.direction,
    )
