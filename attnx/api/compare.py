"""`attnx.compare`: runs on the same examples, or the explanations of one run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from ..results.comparison import Comparison
    from ..results.report import Report
    from .arguments import RunLike


def compare(*runs: RunLike, out: str | Path | None = None) -> Comparison:
    """Compare runs on the examples and seeds that they share: paired differences from the first run.

    If only one run is given, its explanations are compared with the first of them.

    Args:
        *runs: reports, what `attnx.load` gives, or names as `attnx runs` lists them.
        out: the folder in which names are looked up; by default `runs` in ATTNX_HOME.

    Returns:
        The difference of every measure, with an interval and a p-value corrected for several tests.

    Raises:
        UsageError: no run is given, a name is unknown, or the runs share no examples or seeds.
    """
    if not runs:
        raise UsageError("No run is given. Name two or more runs, or one run to compare its explanations.")

    from ..results.paired_differences import compare_explanations, compare_reports

    reports = [_report(run, Path(out) if out else None) for run in runs]
    return compare_explanations(reports[0]) if len(reports) == 1 else compare_reports(reports)


def _report(run: RunLike, out: Path | None) -> Report:
    from ..results.report import Report
    from ..store.saved_reports import load_saved

    given = load_saved(str(run), out) if isinstance(run, str | Path) else getattr(run, "report", run)
    if not isinstance(given, Report):
        raise UsageError(f"{run!r} is not a run. 'attnx runs' lists the runs that can be compared.")
    return given
