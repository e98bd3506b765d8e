"""A paper's table or figure carried out: its grid as a sweep, or its studies, and what they say of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import torch

from ..data.access import Source
from ..errors import DataError, UsageError, in_one_line
from ..host.catalog import Catalog
from ..progress import Progress
from ..registry.experiments import Column
from ..request.experiment import ExperimentPlan, RowCell
from ..request.grid import Cell
from ..request.resolve import resolve
from ..request.spec import RunSpec
from ..results.claims import Sample, decide, measured
from ..results.examples import Examples
from ..results.report import Curve, Report
from ..results.reproduction import ColumnShown, Reproduction, SkippedRows
from ..store.identity import run_name
from ..store.runs import Runs
from .device import choose_device
from .published_studies import StudyFound, StudyUnit, carry_out_study_unit
from .workers.executors import Workers, run_jobs
from .workers.sweep import carry_out_sweep

Found = Report | StudyFound


@dataclass(frozen=True, slots=True)
class _Results:
    """What the cells gave, by what was asked of them, and the errors of the others."""

    found: Mapping[RowCell, tuple[Found, ...]]
    failed: Mapping[RowCell, str]


def carry_out_reproduction(
    asked: ExperimentPlan,
    catalog: Catalog,
    source: Source,
    workers: Workers,
    *,
    progress: Progress,
) -> Reproduction:
    """Run what is asked, as far as its data can be had, and hold the paper's claims to what comes out.

    Runs and trained weights are kept, so that the same, started again, does what is missing.
    """
    started = time.perf_counter()
    cells, missing = _with_data(asked.cells, catalog, source)
    if not cells:
        raise DataError(next(iter(missing.values()), f"'{asked.name}' has no row of this size."))
    if asked.experiment.study:
        results = _study(cells, catalog, source, workers, progress)
    else:
        results = _sweep(cells, catalog, source, workers, progress)
    failed = {**missing, **results.failed}
    if not results.found:
        raise UsageError(f"Every cell of '{asked.name}' failed; the first: {next(iter(failed.values()))}")
    return _concluded(asked, results, failed, time.perf_counter() - started)


def _with_data(
    cells: Sequence[RowCell], catalog: Catalog, source: Source
) -> tuple[list[RowCell], dict[RowCell, str]]:
    """The cells whose data is here, or fetched now, and for the others where to put which files."""
    told: dict[str, str] = {"": ""}  # by dataset; empty: it is here
    missing: dict[RowCell, str] = {}
    for cell in cells:
        component = resolve(cell.asked, catalog).task.component
        name = component.dataset if component else ""
        if name not in told:
            try:
                source.fetch(name)
                told[name] = ""
            except DataError as error:
                told[name] = str(error)
        if told[name]:
            missing[cell] = told[name]
    return [cell for cell in cells if cell not in missing], missing


def _sweep(
    cells: Sequence[RowCell], catalog: Catalog, source: Source, workers: Workers, progress: Progress
) -> _Results:
    """Evaluate every cell through the sweep, and find the runs that it kept."""
    points = {cell: Cell(cell.asked) for cell in cells}
    distinct = {point.asked.canonical(): point for point in points.values()}
    swept = carry_out_sweep(
        list(distinct.values()),
        (),
        catalog,
        workers,
        data_dir=source.directory,
        without=catalog.without,
        progress=progress,
    )
    errors = {undone.cell: undone.reason for undone in swept.failed}
    found: dict[RowCell, tuple[Found, ...]] = {}
    failed: dict[RowCell, str] = {}
    with _one_thread():  # as workers compute, and name their runs
        for cell, point in points.items():
            report = None if point.title in errors else _kept(cell.asked, catalog, source)
            if report is None:
                failed[cell] = errors.get(point.title, "its run was not kept")
            else:
                found[cell] = (report,)
    return _Results(found, failed)


def _kept(asked: RunSpec, catalog: Catalog, source: Source) -> Report | None:
    plan = resolve(asked, catalog)
    return Runs().find(run_name(plan, source, choose_device(plan.spec.device)), "values")


def _study(
    cells: Sequence[RowCell], catalog: Catalog, source: Source, workers: Workers, progress: Progress
) -> _Results:
    """Carry out the studies of every cell, each by one worker."""
    folder = str(source.directory) if source.directory else None
    units = {
        cell: [
            StudyUnit(study, cell.asked.model_dump_json(), folder, catalog.without) for study in cell.studies
        ]
        for cell in cells
    }
    given: dict[StudyUnit, StudyFound] = {}
    errors: dict[StudyUnit, str] = {}
    distinct = list(dict.fromkeys(unit for several in units.values() for unit in several))
    with progress.stage("studies", len(distinct)) as step:
        for done in run_jobs(workers, carry_out_study_unit, distinct, lambda _: ()):
            if done.error is not None:
                errors[done.unit] = in_one_line(done.error)
            else:
                given[done.unit] = done.result
            step(1, f"{len(errors)} failed" if errors else "")
    wrong = {cell: [errors[u] for u in several if u in errors] for cell, several in units.items()}
    return _Results(
        {cell: tuple(given[u] for u in several) for cell, several in units.items() if not wrong[cell]},
        {cell: told[0] for cell, told in wrong.items() if told},
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _concluded(
    asked: ExperimentPlan, results: _Results, failed: Mapping[RowCell, str], seconds: float
) -> Reproduction:
    experiment = asked.experiment
    rows = [row for row in experiment.rows if any(cell.row == row for cell in results.found)]
    samples: dict[tuple[str, str], Sample] = {}
    for row in rows:
        several = [found for cell, found in results.found.items() if cell.row == row]
        for name in experiment.results():
            column = experiment.columns[name]
            setting = experiment.filled(column.setting, experiment.rows[row])
            each = [_sample(found, column, setting) for found in several]
            samples[row, name] = Sample.of_several(each)
    values = [
        measured(row, name, sample, experiment.value(experiment.rows[row], name))
        for (row, name), sample in samples.items()
    ]
    size = experiment.size(asked.size)
    every = [found for several in results.found.values() for found in several]
    return Reproduction(
        experiment=asked.name,
        summary=experiment.summary,
        source=experiment.source,
        size=asked.size,
        command=asked.command,
        date=datetime.now(UTC).date().isoformat(),
        seeds=asked.seeds,
        data=_data(results.found),
        training={key: str(value) for key, value in size.training.items()},
        columns=tuple(
            ColumnShown(name=name, digits=column.digits, given=column.given)
            for name, column in experiment.columns.items()
        ),
        rows=tuple(rows),
        values=tuple(values),
        claims=tuple(decide(claim, list(experiment.rows), samples) for claim in experiment.claims),
        curves=tuple(_curves(results.found, experiment.draws)),
        left_out=tuple(_left_out(asked, failed, rows)),
        ours=experiment.ours,
        runs=tuple(dict.fromkeys(f.fingerprint if isinstance(f, Report) else f.folder for f in every)),
        seconds=round(seconds, 1),
    )


def _data(found: Mapping[RowCell, tuple[Found, ...]]) -> dict[str, str]:
    """How many examples there were of each task."""
    said: dict[str, str] = {}
    for cell, (first, *_) in found.items():
        data = first.provenance.data if isinstance(first, Report) else first.data
        task = cell.asked.task.label if cell.asked.task else ""
        said[task] = ", ".join(
            f"{data[split]} {split}" for split in ("train", "dev", "test") if split in data
        )
    return said


def _curves(found: Mapping[RowCell, tuple[Found, ...]], drawn: Sequence[str]) -> Iterator[Curve]:
    """The curves of these metrics for the model's own attention, named by their row."""
    for cell, several in found.items():
        for report in several:
            for curve in report.curves if isinstance(report, Report) else ():
                if curve.metric in drawn and curve.explanation in (None, "attention"):
                    yield curve.model_copy(update={"explanation": cell.row})


def _left_out(
    asked: ExperimentPlan, failed: Mapping[RowCell, str], run: Sequence[str]
) -> Iterator[SkippedRows]:
    """Rows, or parts of rows that were run, without a result, by the reason."""
    reasons: dict[str, list[str]] = {}
    for cell, reason in failed.items():
        reasons.setdefault(reason, []).append(f"part of {cell.row}" if cell.row in run else cell.row)
    for reason, rows in reasons.items():
        yield SkippedRows(rows=tuple(dict.fromkeys(rows)), reason=reason)
    if asked.left_out:
        yield SkippedRows(rows=asked.left_out, reason=f"not part of the size '{asked.size}'")


def _sample(found: tuple[Found, ...], column: Column, setting: str) -> Sample:
    """The values of a column in what one cell gave."""
    for one in found:
        if isinstance(one, Report):
            return _of_report(one, column)
        if (setting, column.measure) in one.values:
            return Sample(one.values[setting, column.measure], one.examples)
    known = "; ".join(f"{s} {m}" for one in found if isinstance(one, StudyFound) for s, m in one.values)
    raise UsageError(f"The study has no '{setting}' '{column.measure}'; it has {known}.")


def _of_report(report: Report, column: Column) -> Sample:
    examples = report.examples()
    if column.measure == "accuracy":
        return Sample((examples.predicted == examples.labels).astype(float), examples.ids)
    summary = report.select(
        column.measure, explanation=column.explanation or None, reference=column.reference or None
    )
    kept = _kept_column(examples, summary.metric, summary.measure, summary.explanation, summary.reference)
    if kept is not None:
        return Sample(examples.measures[:, :, kept].astype(float), examples.ids)
    return Sample(np.array(summary.seeds, dtype=float)[:, None], None)  # of the split as a whole


def _kept_column(
    examples: Examples, metric: str, measure: str, explanation: str | None, reference: str | None
) -> int | None:
    wanted = (metric, measure, explanation, reference)
    found = [(c.metric, c.measure, c.explanation, c.reference) for c in examples.columns]
    return found.index(wanted) if wanted in found else None
