"""The page of a sweep: its cells, heat maps, and every cell compared with the first of its task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...errors import AttnxError
from ...request.cell_choices import AXES
from ...request.option_text import write_options
from ...results.comparison import Comparison
from ...results.formatting import duration, interval_of
from ...results.sweep import SweepReport
from ..figures.figure import to_inline_svg
from .comparison import MARKS, strip_around_zero
from .headline import of_sweep
from .templating import render

OPEN_ROWS = 12  # of cells that are not folded
MOST_ROWS = 2000  # of comparisons; if there are more, only significant differences are listed


def sweep_page(report: SweepReport, links: Mapping[str, str]) -> str:
    """Every cell with its measures, the heat maps, and the differences between cells."""
    from markupsafe import Markup

    try:
        comparisons, uncompared = report.comparisons(), ""
    except AttnxError as error:  # the rest of the page does not need them
        comparisons, uncompared = (), str(error)
    headline, figures = of_sweep(report), report.figures()
    only_significant = sum(len(comparison.rows) for comparison in comparisons) > MOST_ROWS
    return render(
        "sweep.html",
        title=f"{headline} {_title(report)}",
        headline=headline,
        setting=_title(report),
        report=report,
        cells=len({row.run for row in report.rows}),
        took=duration(report.seconds)
        + (f" on {report.workers} worker{'s' * (report.workers != 1)}" if report.workers else ""),
        axes=report.varying or AXES[:1],
        measures=report.measures,
        links=links,
        shared=[f"every {axis}: {write_options(o)}" for axis in AXES if (o := report.shared_options(axis))],
        interval=lambda value: interval_of(value.low, value.high) or "–",
        figures=[(drawing, Markup(to_inline_svg(drawing))) for drawing in figures if drawing.leading],
        more_figures=[
            (drawing, Markup(to_inline_svg(drawing))) for drawing in figures if not drawing.leading
        ],
        open_rows=OPEN_ROWS,
        tasks=[(one, _tables(one, only_significant)) for one in comparisons],
        titles={row.run: report.apart(row) for row in report.rows},
        uncompared=uncompared,
        only_significant=only_significant,
        outcome_marks=MARKS,
    )


def _title(report: SweepReport) -> str:
    """The parts that all cells share, and the number of parts in which they differ."""
    parts = []
    for axis in AXES:
        found = list(dict.fromkeys(getattr(row, axis) for row in report.rows))
        if len(found) == 1:
            parts.append(found[0])
        elif axis in report.varying:
            parts.append(f"{len(found)} {axis}s")
    return " · ".join(filter(None, parts)) or "No cell"


def _tables(comparison: Comparison, only_significant: bool) -> list[tuple[Any, str, list[Any]]]:
    """For every run but the first: how many rows have which outcome, and the rows."""
    significant = {id(row) for row in comparison.significant}
    found = []
    for run in comparison.runs[1:]:
        rows = [row for row in comparison.rows if row.run == run.letter]
        counts = Counter(row.outcome for row in rows)
        said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in MARKS if counts[outcome])
        shown = [row for row in rows if not only_significant or id(row) in significant]
        found.append((run, said, [(row, strip_around_zero(row)) for row in shown]))
    return found
