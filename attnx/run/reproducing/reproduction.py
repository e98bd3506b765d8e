"""A table or figure of a paper, run as a sweep or as studies, with the claims that it supports."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from ...data.access import Source
from ...errors import DataError, UsageError, in_one_line
from ...host.catalog import Catalog
from ...progress import Progress
from ...registry.experiments import SMOKE_TEST, Settings, Size
from ...request.experiment import ExperimentPlan, RowCell, plan_experiment
from ...request.grid import Cell
from ...request.resolve import resolve
from ...request.spec import Choice
from ...results.formatting import duration
from ...results.judgement.claims import Found, RowValues, decide, measured
from ...results.report import Curve, Report
from ...results.reproduction import ColumnShown, Reproduction, SkippedRows, TrainedModel
from ...store.runs import Runs
from ..workers.executors import Workers, run_jobs
from ..workers.sweep import carry_out_cells
from .cell_values import CellResult, values_of
from .published_studies import StudyJob, StudyResult, run_study_job
from .training_check import check_cells

TIMED_ON = 2  # cores, on which the registry says how long tables take


@dataclass(frozen=True, slots=True)
class _Results:
    """The results of the cells that were run, and the errors of the others."""

    found: Mapping[RowCell, tuple[CellResult, ...]]
    failed: Mapping[RowCell, str]


def carry_out_reproduction(
    asked: ExperimentPlan,
    catalog: Catalog,
    source: Source,
    workers: Workers,
    *,
    progress: Progress,
) -> Reproduction:
    """Run the rows whose data is available, and decide which of the paper's claims hold.

    Runs and trained weights are stored, so the same reproduction, started again, computes what is missing.
    """
    started = time.perf_counter()
    cells, missing = _with_data(asked.cells, catalog, source)
    if not cells:
        raise DataError(next(iter(missing.values()), f"'{asked.name}' has no row of this size."))
    if asked.experiment.study:
        progress.say(_estimate_of_studies(asked, workers))
        results = _study(list(cells), catalog, source, workers, progress)
    else:
        results = _sweep(cells, catalog, source, workers, progress)
    failed = {**missing, **results.failed}
    if not results.found:
        raise UsageError(f"Every cell of '{asked.name}' failed; the first: {next(iter(failed.values()))}")
    trained = check_cells(list(results.found), asked.name, catalog, source, workers, progress)
    return _concluded(asked, results, failed, trained, time.perf_counter() - started)


def _with_data(
    cells: Sequence[RowCell], catalog: Catalog, source: Source
) -> tuple[dict[RowCell, Cell], dict[RowCell, str]]:
    """The cells whose data is here or can be downloaded, with their plans, and what the others lack."""
    errors: dict[str, str] = {"": ""}  # by dataset; empty: it is here
    ready: dict[RowCell, Cell] = {}
    missing: dict[RowCell, str] = {}
    for cell in cells:
        plan = resolve(cell.asked, catalog)
        name = plan.task.component.dataset if plan.task.component else ""
        if name not in errors:
            try:
                source.fetch(name)
                errors[name] = ""
            except DataError as error:
                errors[name] = str(error)
        if errors[name]:
            missing[cell] = errors[name]
        else:
            ready[cell] = Cell(cell.asked, plan)
    return ready, missing


def _sweep(
    cells: Mapping[RowCell, Cell], catalog: Catalog, source: Source, workers: Workers, progress: Progress
) -> _Results:
    """Evaluate every cell by a sweep; rows that ask for the same share a cell."""
    distinct = {cell.plan.spec.canonical(): cell for cell in cells.values()}
    numbers = {spec: number for number, spec in enumerate(distinct)}
    with workers.started() as started:
        results = carry_out_cells(
            list(distinct.values()), catalog, started, data_dir=source.directory, progress=progress
        )
    found: dict[RowCell, tuple[CellResult, ...]] = {}
    failed: dict[RowCell, str] = {}
    for row_cell, cell in cells.items():
        number = numbers[cell.plan.spec.canonical()]
        report = Runs().find(results.runs[number]) if number in results.runs else None
        if report is None:
            failed[row_cell] = results.failed.get(number, "its run was deleted meanwhile")
        else:
            found[row_cell] = (report,)
    return _Results(found, failed)


def _estimate_of_studies(asked: ExperimentPlan, workers: Workers) -> str:
    """How long studies are expected to take, from the time of the whole table in the registry."""
    size = asked.experiment.size(asked.size)
    if size.minutes is None:
        return "no time estimate: this table has not been timed yet"
    whole = plan_experiment(asked.name, asked.experiment, asked.size)
    part = len(asked.cells) * len(asked.seeds) / (len(whole.cells) * len(whole.seeds))
    seconds = 60 * size.minutes * part * TIMED_ON / workers.computing
    return f"estimate: about {duration(seconds)}, from earlier runs; less if trained weights are stored"


def _study(
    cells: Sequence[RowCell], catalog: Catalog, source: Source, workers: Workers, progress: Progress
) -> _Results:
    """Carry out the studies of every cell, each by one worker."""
    folder = str(source.directory) if source.directory else None
    jobs = {
        cell: [
            StudyJob(study, cell.asked.model_dump_json(), folder, catalog.without) for study in cell.studies
        ]
        for cell in cells
    }
    results: dict[StudyJob, StudyResult] = {}
    errors: dict[StudyJob, str] = {}
    names = {job: f"{cell.row}, {Choice.parse(job.study).name}" for cell in cells for job in jobs[cell]}
    with TemporaryDirectory() as lines, progress.stage("studies", len(names)) as step:
        files = {Path(lines) / str(number): job for number, job in enumerate(names)}
        noted = {
            replace(job, line=str(path) if workers.kind == "local" else ""): job
            for path, job in files.items()
        }

        def show() -> None:
            at_work = {path: names[job] for path, job in files.items() if job not in {*results, *errors}}
            said = {name: path.read_text("utf-8") for path, name in at_work.items() if path.exists()}
            step(0, "; ".join(f"{name}: {line}" for name, line in said.items()))

        for finished in run_jobs(workers, run_study_job, noted, lambda _: (), show):
            job = noted[finished.job]
            if finished.error is not None:
                errors[job] = in_one_line(finished.error)
            else:
                results[job] = finished.result
            step(1, f"{len(errors)} failed" if errors else "")
    reasons = {cell: [errors[job] for job in several if job in errors] for cell, several in jobs.items()}
    return _Results(
        {cell: tuple(results[job] for job in jobs[cell]) for cell in cells if not reasons[cell]},
        {cell: several[0] for cell, several in reasons.items() if several},
    )


def _concluded(
    asked: ExperimentPlan,
    results: _Results,
    failed: Mapping[RowCell, str],
    trained: Sequence[TrainedModel],
    seconds: float,
) -> Reproduction:
    experiment = asked.experiment
    rows = [row for row in experiment.rows if any(cell.row == row for cell in results.found)]
    samples: dict[tuple[str, str], RowValues] = {}
    for row in rows:
        several = [found for cell, found in results.found.items() if cell.row == row]
        for name in experiment.results():
            column = experiment.columns[name]
            setting = experiment.filled(column.setting, experiment.rows[row])
            each = [values_of(found, column, setting) for found in several]
            samples[row, name] = RowValues.of_several(each)
    values = [
        measured(row, name, sample, experiment.value(experiment.rows[row], name))
        for (row, name), sample in samples.items()
    ]
    held_to = Found(
        samples=samples,
        published={
            (row, name): experiment.value(experiment.rows[row], name)
            for row in experiment.rows
            for name in experiment.results()
        },
        undertrained={model.row: model.undertrained for model in trained if model.undertrained},
        accuracies=[name for name, column in experiment.columns.items() if column.measure == "accuracy"],
    )
    claims = () if asked.size == SMOKE_TEST else experiment.claims
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
        training=_settings(size, {c.asked.task.name for c in results.found if c.asked.task}),
        columns=tuple(
            ColumnShown(name=name, digits=column.digits, given=column.given)
            for name, column in experiment.columns.items()
        ),
        rows=tuple(rows),
        values=tuple(values),
        claims=tuple(decide(claim, list(experiment.rows), held_to) for claim in claims),
        trained=tuple(trained),
        curves=tuple(_curves(results.found, experiment.draws)),
        left_out=tuple(_left_out(asked, failed, rows)),
        ours=experiment.ours,
        runs=tuple(dict.fromkeys(f.fingerprint if isinstance(f, Report) else f.folder for f in every)),
        seconds=round(seconds, 1),
    )


def _settings(size: Size, tasks: Collection[str]) -> dict[str, str]:
    """In what models and training differ from their defaults, at this size and in these tasks."""
    others = {f" ({task})": one for task, one in size.by_task.items() if task in tasks}
    several: dict[str, Settings] = {"": size, **others}
    return {
        f"{key}{place}": str(value)
        for place, settings in several.items()
        for key, value in {**settings.options, **settings.training}.items()
    }


def _data(found: Mapping[RowCell, tuple[CellResult, ...]]) -> dict[str, str]:
    """How many examples there were of each task."""
    sizes: dict[str, str] = {}
    for cell, (first, *_) in found.items():
        data = first.provenance.data if isinstance(first, Report) else first.data
        task = cell.asked.task.label if cell.asked.task else ""
        sizes[task] = ", ".join(
            f"{data[split]} {split}" for split in ("train", "dev", "test") if split in data
        )
    return sizes


def _curves(found: Mapping[RowCell, tuple[CellResult, ...]], drawn: Sequence[str]) -> Iterator[Curve]:
    """The curves of these metrics for the model's own attention, named by their row."""
    for cell, several in found.items():
        for report in several:
            for curve in report.curves if isinstance(report, Report) else ():
                if curve.metric in drawn and curve.explanation in (None, "attention"):
                    yield curve.model_copy(update={"explanation": cell.row})


def _left_out(
    asked: ExperimentPlan, failed: Mapping[RowCell, str], run: Sequence[str]
) -> Iterator[SkippedRows]:
    """Rows, or parts of rows, without a result, by the reason."""
    reasons: dict[str, list[str]] = {}
    for cell, reason in failed.items():
        reasons.setdefault(reason, []).append(f"part of {cell.row}" if cell.row in run else cell.row)
    for reason, rows in reasons.items():
        yield SkippedRows(rows=tuple(dict.fromkeys(rows)), reason=reason)
    if asked.not_asked:
        yield SkippedRows(rows=asked.not_asked, reason="not asked for")
    if asked.left_out:
        yield SkippedRows(rows=asked.left_out, reason=f"not part of the size '{asked.size}'")
