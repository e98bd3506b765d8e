"""An evaluation from plan to report: found if it is stored, otherwise computed and stored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.loading import Source
from ..disk import check_writable
from ..errors import NotStored, UsageError, in_one_line
from ..host.catalog import Catalog
from ..progress import Progress
from ..request.keep_levels import Keep
from ..request.plan import Plan
from ..request.spec import digest
from ..results.report import Report
from ..results.result import Result
from ..store.examples import StoredExamples
from ..store.identity import run_name
from ..store.runs import Runs
from ..store.weights import Weights
from .computation import compute_report
from .device import choose_device
from .training.loop import Trainer, train

if TYPE_CHECKING:
    from .workers.shared_run import RunWorkers


@dataclass(frozen=True, slots=True)
class Outcome:
    """A report, and the folder it is stored in, if it is."""

    report: Report
    folder: Path | None
    stored: bool  # found on disk rather than computed


def carry_out(
    plan: Plan,
    *,
    runs: Runs | None = None,
    weights: Weights | None = None,
    source: Source | None = None,
    fresh: bool = False,
    keep: Keep = "all",
    progress: Progress | None = None,
    run_workers: RunWorkers | None = None,
    catalog: Catalog | None = None,
    trainer: Trainer = train,
) -> Outcome:
    """Return the stored run of a plan, or compute and store it, alone or with workers."""
    given, runs, weights = runs, runs or Runs(), weights or Weights()
    source, progress = source or Source(), progress or Progress()
    if not plan.repeatable:
        if run_workers:
            raise UsageError("Workers find components by name: measure your own object without workers.")
        return _carry_out_once(plan, given, source, weights, progress, keep, catalog, trainer)
    name = run_name(plan, source, choose_device(plan.spec.device))
    report = None if fresh else runs.find(name, keep)
    if report is not None:
        return Outcome(report, runs.folder(name), stored=True)
    check_writable(runs.root, "--out")
    check_writable(weights.root, "ATTNX_HOME")
    if run_workers and fresh:
        run_workers.delete_shards(name)
    computed = compute_report(
        plan, name, source, weights, progress, keep, runs.root, run_workers, trainer, reuse=not fresh
    )
    outcome = _stored(computed, runs, keep, catalog)
    if run_workers:
        run_workers.delete_shards(name)
    return outcome


def _carry_out_once(
    plan: Plan,
    runs: Runs | None,
    source: Source,
    weights: Weights,
    progress: Progress,
    keep: Keep,
    catalog: Catalog | None,
    trainer: Trainer,
) -> Outcome:
    """Compute a run with a Python object in it, which has no stable name; it is stored if a folder is given.

    It is named by its results, and never returned for another request.
    """
    into = runs.root if runs else None
    if into:
        check_writable(into, "--out")
    report = compute_report(plan, "", source, weights, progress, keep, into, trainer=trainer)
    if runs is None:
        return Outcome(report, None, stored=False)
    content = report.without_times().model_dump_json()
    named = report.model_copy(update={"fingerprint": f"object-{digest(content)}"})
    return _stored(named, runs, keep, catalog)


def _stored(report: Report, runs: Runs, keep: Keep, catalog: Catalog | None) -> Outcome:
    try:
        folder = runs.write(report, report.examples() if keep != "none" else None, catalog)
    except Exception as error:  # the results are not lost, whatever prevents that they are stored
        raise not_stored(report, runs.root, error, page=runs.find(report.fingerprint) is not None) from error
    return Outcome(report.with_examples(StoredExamples(folder)), folder, stored=False)


def not_stored(report: Result, root: Path, error: Exception, page: bool = False) -> NotStored:
    """The error that a finished report, or only its page, could not be stored, and why."""
    what = "page of the report" if page else "report is finished, but"
    reason = (error.strerror or str(error)) if isinstance(error, OSError) else in_one_line(error)
    return NotStored(f"The {what} could not be stored in '{root}': {reason.rstrip('.')}.", report)
