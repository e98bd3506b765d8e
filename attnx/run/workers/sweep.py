"""A sweep: every cell of a grid is trained and measured by workers; errors and deaths do not stop it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import in_one_line
from ...host.catalog import Catalog
from ...progress import Progress
from ...request.grid import Cell, SweepPlan
from ...request.keep_levels import Keep
from ...results.report import Report
from ...results.sweep import SweepReport, SweepRow, UnfinishedCell, rows_of
from ...store.identity import run_name, software_name
from ...store.runs import Runs
from ..device import choose_device
from ..evaluation import carry_out
from .executors import FinishedJob, OpenWorkers, one_thread, run_jobs
from .jobs import Files, Job, JobOutput, WorkerSetup, receive, run_job, source_of, worker_setup
from .shared_run import RunWorkers
from .sweep_estimate import Estimate, estimate
from .sweep_progress import SweepProgress


def carry_out_sweep(
    plan: SweepPlan,
    catalog: Catalog,
    workers: OpenWorkers,
    *,
    data_dir: Path | None = None,
    keep: Keep = "values",
    fresh: bool = False,
    progress: Progress | None = None,
) -> SweepReport:
    """Train and measure all cells, and report on them."""
    started = time.perf_counter()
    cells = plan.cells
    results = carry_out_cells(
        cells, catalog, workers, data_dir=data_dir, keep=keep, fresh=fresh, progress=progress
    )
    return SweepReport(
        rows=tuple(row for cell in sorted(results.rows) for row in results.rows[cell]),
        refused=tuple(UnfinishedCell(cell=refused.title, reason=refused.reason) for refused in plan.refused),
        failed=tuple(
            UnfinishedCell(cell=cells[cell].title, reason=results.failed[cell])
            for cell in sorted(results.failed)
        ),
        seconds=round(time.perf_counter() - started, 3),
        workers=workers.workers.count,
    ).with_runs(Runs().find, Runs().root)


@dataclass(frozen=True, slots=True)
class CellResults:
    """What became of the cells, by their number: every cell has a run or an error."""

    rows: Mapping[int, Sequence[SweepRow]]
    runs: Mapping[int, str]  # fingerprints
    failed: Mapping[int, str]  # errors in one line


def carry_out_cells(
    cells: Sequence[Cell],
    catalog: Catalog,
    workers: OpenWorkers,
    *,
    data_dir: Path | None = None,
    keep: Keep = "values",
    fresh: bool = False,
    progress: Progress | None = None,
) -> CellResults:
    """Train and measure all cells; a cell that fails does not stop the others.

    Everything that ends is stored at once, so the same sweep, started again, computes what is missing.
    """
    shown = progress or Progress()
    rows: dict[int, list[SweepRow]] = {}
    runs: dict[int, str] = {}
    failed: dict[int, str] = {}

    def add(number: int, report: Report) -> None:
        rows[number] = rows_of(report, cells[number].choices)
        runs[number] = report.fingerprint

    with worker_setup(data_dir, catalog.without, keep, fresh) as setup:
        for number, stored in _stored(cells, catalog, setup).items():
            add(number, stored)
        missing = [number for number in range(len(cells)) if number not in runs]
        jobs = _CellJobs(cells, missing, setup, catalog, workers)
        with _progress(jobs, shown) as state:
            for finished in jobs.finished():
                number, reason = finished.job.cell, in_one_line(finished.error) if finished.error else ""
                if reason:
                    failed.setdefault(number, reason)
                elif finished.job.seed is None:
                    report = Runs().find(finished.result.fingerprint)
                    if report is None:
                        reason = "the run was measured, but cannot be read back"
                        failed.setdefault(number, reason)
                    else:
                        add(number, report)
                state.end(number, training=finished.job.seed is not None, reason=reason)
    return CellResults(rows, runs, failed)


def _stored(cells: Sequence[Cell], catalog: Catalog, setup: WorkerSetup) -> dict[int, Report]:
    """The reports that are stored already, under the names that workers of this machine give them."""
    if setup.fresh:
        return {}
    source = source_of(setup.data_folder, catalog)
    stored: dict[int, Report] = {}
    with one_thread():
        for number, cell in enumerate(cells):
            device = choose_device(cell.plan.spec.device)
            report = Runs().find(run_name(cell.plan, source, device), setup.keep)
            if report is not None:
                stored[number] = report
    return stored


def _progress(jobs: _CellJobs, shown: Progress) -> SweepProgress:
    """The progress of the sweep; first, if it is shown, an estimate of the time."""
    cells, count = jobs.cells, jobs.workers.workers.number
    seeds = {number: len(cells[number].asked.seeds) for number in jobs.missing}
    guess = Estimate()
    if shown.mode != "off":
        if len(seeds) < len(cells):
            shown.say(f"{len(cells) - len(seeds)} of {len(cells)} cells are stored already")
        if seeds and jobs.workers.workers.kind != "in-process":  # a trial would take as long as a small sweep
            guess = jobs.estimate()
            shown.say(guess.sentence(guess.seconds(seeds, count), count))
    return SweepProgress([cell.title for cell in cells], seeds, shown, guess, count)


class _CellJobs:
    """The order of the jobs: a cell is measured once all its seeds are trained.

    If there are fewer cells than workers, they are measured one after the other, each by all workers.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        missing: Sequence[int],
        setup: WorkerSetup,
        catalog: Catalog,
        workers: OpenWorkers,
    ) -> None:
        self.cells, self.setup, self.catalog, self.workers = cells, setup, catalog, workers
        self.few = len(missing) < workers.workers.number
        self.missing = {number: set(cells[number].asked.seeds) for number in missing}  # seeds to train
        self.software = {number: software_name(cells[number].plan) for number in missing}
        self.weights: dict[int, Files] = dict.fromkeys(missing, ())

    def estimate(self) -> Estimate:
        """How long the cells are expected to take."""
        with self.workers.open() as executor:
            return estimate({cell: self._job(cell, None) for cell in self.missing}, self.cells, executor)

    def finished(self) -> Iterator[FinishedJob[Job]]:
        """Every job as it ends."""
        yield from run_jobs(self.workers, run_job, self._first(), self._then)
        for cell in [cell for cell, seeds in self.missing.items() if self.few and not seeds]:
            job = self._job(cell, None)
            try:
                yield FinishedJob(job, JobOutput(self._measure_together(self.cells[cell]), ()))
            except Exception as error:  # it does not stop the other cells
                yield FinishedJob(job, error=error)

    def _measure_together(self, cell: Cell) -> str:
        """Measure a cell with all workers; return the name of its run."""
        with one_thread():
            outcome = carry_out(
                cell.plan,
                source=source_of(self.setup.data_folder, self.catalog),
                keep=self.setup.keep,
                fresh=self.setup.fresh,
                progress=Progress("off"),
                run_workers=RunWorkers(self.workers, self.setup, cell.asked),
                catalog=self.catalog,
            )
        return outcome.report.fingerprint

    def _first(self) -> list[Job]:
        return [self._job(cell, seed) for cell, seeds in self.missing.items() for seed in sorted(seeds)]

    def _then(self, finished: FinishedJob[Job]) -> Iterable[Job]:
        """The jobs that can begin now that this one has ended."""
        job = finished.job
        if finished.error is not None:
            return ()
        receive(finished.result)
        if job.seed is None:
            return ()
        self.weights[job.cell] += finished.result.files
        self.missing[job.cell].discard(job.seed)
        return () if self.few or self.missing[job.cell] else (self._job(job.cell, None),)

    def _job(self, cell: int, seed: int | None) -> Job:
        files = self.weights[cell] if seed is None else ()
        spec = self.cells[cell].asked.model_dump_json()
        return Job(cell, spec, self.software[cell], seed, self.setup, files)
