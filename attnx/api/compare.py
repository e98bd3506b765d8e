"""Runs taken from the saved_reports, or given, and compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from ..results.comparison import Comparison
    from ..results.report import Report


def compare(*runs: Any, out: str | Path | None = None) -> Comparison:
    """Compare runs on the same examples and seeds: paired differences from the first, and which are no noise.

    Of a single run its explanations are compared, with the first of them.

    Args:
        runs: reports, what `attnx.load` gives, or names as `attnx runs` has them.
        out: the folder in which names are looked up; by default `runs` in ATTNX_HOME.
    """
    if not runs:
        raise UsageError("No run given: compare two or more, or the explanations of one.")

    from ..results.paired_differences import compare_explanations, compare_reports

    reports = [_report(run, Path(out) if out else None) for run in runs]
    return compare_explanations(reports[0]) if len(reports) == 1 else compare_reports(reports)


def _report(run: Any, out: Path | None) -> Report:
    from ..results.report import Report
    from ..store.saved_reports import take

    given = take(str(run), out).report if isinstance(run, str | Path) else getattr(run, "report", run)
    if not isinstance(given, Report):
        raise UsageError(f"{run!r} is no run: compare two or more of those that 'attnx runs' lists.")
    return given
