"""A sweep: every cell of a grid trained and measured by workers, whatever happens to them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from ...data.access import Source
from ...disk import check_writable
from ...errors import in_one_line
from ...escaping import printable
from ...host.catalog import Catalog
from ...progress import Progress
from ...request.grid import Cell, Refused
from ...request.keep_levels import Keep
from ...request.plan import Plan
from ...request.resolve import resolve
from ...results.report import Report
from ...results.sweep import SweepReport, SweepRow, UnfinishedCell, rows_of
from ...store.home import home
from ...store.identity import run_name, software_name
from ...store.runs import Runs
from ..device import choose_device
from .executors import FinishedJob, OpenWorkers, Workers, one_thread, run_jobs
from .jobs import Files, Job, JobOutput, WorkerSetup, marked, run_job, write_carried
from .shared_run import measure_together
from .sweep_estimate import Estimate, estimate
from .sweep_progress import SweepProgress


def carry_out_sweep(
    cells: Sequence[Cell],
    refused: Sequence[Refused],
    catalog: Catalog,
    workers: Workers,
    *,
    data_dir: Path | None = None,
    without: tuple[str, ...] = (),
    keep: Keep = "values",
    progress: Progress | None = None,
) -> SweepReport:
    """Train and measure all cells; those that fail are told and do not stop the others.

    Everything that ends is kept at once, so that the same sweep, started again, does what is missing.
    """
    started = time.perf_counter()
    check_writable(home(), "ATTNX_HOME")
    shown = progress or Progress()
    rows: dict[int, list[SweepRow]] = {}
    failed: dict[int, str] = {}
    plans = [resolve(cell.asked, catalog) for cell in cells]
    source = Source.configured(catalog.registry.datasets, home() / "data", data_dir, Progress("off"))
    for number, known in _kept(plans, source, keep).items():
        rows[number] = rows_of(known, cells[number].training)
    missing = {number: cell for number, cell in enumerate(cells) if number not in rows}
    with marked(home()) as mark, ExitStack() as stack:
        setup = WorkerSetup(
            home=str(home().resolve()),
            mark=str(mark),
            data_dir=str(data_dir.resolve()) if data_dir else None,
            without=without,
            keep=keep,
        )
        software = {number: software_name(plans[number]) for number in missing}
        course = _Course(cells, software, setup, catalog, OpenWorkers(workers, stack))
        with _progress(course, shown) as watch:
            for done in course.carried_out():
                cell, reason = done.unit.cell, "" if done.error is None else in_one_line(done.error)
                if reason:
                    failed.setdefault(cell, reason)
                elif done.unit.seed is None:
                    report = Runs().find(done.result.fingerprint)
                    assert report is not None, "a measured cell is kept"
                    rows[cell] = rows_of(report, cells[cell].training)
                watch.end(cell, training=done.unit.seed is not None, reason=reason)
    return SweepReport(
        rows=tuple(row for cell in sorted(rows) for row in rows[cell]),
        refused=tuple(UnfinishedCell(cell=r.cell.title, reason=r.reason) for r in refused),
        failed=tuple(UnfinishedCell(cell=cells[cell].title, reason=failed[cell]) for cell in sorted(failed)),
        seconds=round(time.perf_counter() - started, 3),
        workers=workers.count,
    ).with_runs(Runs().find, Runs().root)


def _kept(plans: Sequence[Plan], source: Source, keep: Keep) -> dict[int, Report]:
    """The reports that are there already, as workers of this machine would name them."""
    with one_thread():
        found = {
            number: Runs().find(run_name(plan, source, choose_device(plan.spec.device)), keep)
            for number, plan in enumerate(plans)
        }
    return {number: report for number, report in found.items() if report is not None}


def _progress(course: _Course, shown: Progress) -> SweepProgress:
    """What tells how far it is; before, how long it will take, where somebody reads it."""
    cells, count = course.cells, course.workers.workers.number
    seeds = {number: len(cells[number].asked.seeds) for number in course.missing}
    guess = Estimate()
    if shown.mode != "off":
        if len(seeds) < len(cells):
            print(f"{len(cells) - len(seeds)} of {len(cells)} cells are kept already", file=sys.stderr)
        if seeds:
            guess = course.estimate()
            print(printable(guess.told(guess.seconds(seeds, count), count)), file=sys.stderr, flush=True)
    return SweepProgress([cell.title for cell in cells], seeds, shown.mode, guess, count)


class _Course:
    """Which unit comes when: a cell is measured once all its seeds are trained.

    Fewer cells than workers are measured one after the other, each by all workers.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        software: Mapping[int, str],
        setup: WorkerSetup,
        catalog: Catalog,
        workers: OpenWorkers,
    ) -> None:
        self.cells, self.software, self.setup = cells, software, setup
        self.catalog, self.workers = catalog, workers
        self.few = len(software) < workers.workers.number
        self.missing = {number: set(cells[number].asked.seeds) for number in software}
        self.brought: dict[int, Files] = dict.fromkeys(self.missing, ())

    def estimate(self) -> Estimate:
        """What the cells are expected to take."""
        with self.workers.open() as executor:
            units = {cell: self._unit(cell, None) for cell in self.missing}
            return estimate(units, self.cells, self.catalog, executor)

    def carried_out(self) -> Iterator[FinishedJob[Job]]:
        """Every unit as it ends."""
        yield from run_jobs(self.workers, run_job, self.first(), self.then)
        trained = [cell for cell, seeds in self.missing.items() if self.few and not seeds]
        for cell in trained:
            unit = self._unit(cell, None)
            try:
                found = measure_together(self.cells[cell].asked, self.catalog, self.workers, self.setup)
                yield FinishedJob(unit, JobOutput(found.report.fingerprint, ()))
            except Exception as error:  # of this cell, which does not stop the others
                yield FinishedJob(unit, error=error)

    def first(self) -> list[Job]:
        return [self._unit(cell, seed) for cell, seeds in self.missing.items() for seed in sorted(seeds)]

    def then(self, done: FinishedJob[Job]) -> Iterable[Job]:
        """What can begin now that this unit has ended."""
        unit = done.unit
        if done.error is not None:
            return ()
        write_carried(done.result.files)
        if unit.seed is None:
            return ()
        self.brought[unit.cell] += done.result.files
        self.missing[unit.cell].discard(unit.seed)
        return () if self.few or self.missing[unit.cell] else (self._unit(unit.cell, None),)

    def _unit(self, cell: int, seed: int | None) -> Job:
        brought = self.brought[cell] if seed is None else ()
        return Job(
            cell, self.cells[cell].asked.model_dump_json(), self.software[cell], seed, self.setup, brought
        )
