"""The figure of a test with a planted trigger: how often every explanation finds it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...results.planting.report import PlantedReport
from .figure import FAINT, SERIES, ReportFigure
from .study import LETTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def planted_figures(report: PlantedReport) -> list[ReportFigure]:
    """One figure; none if no model uses the trigger."""
    if not report.rows:
        return []
    left = 0.3 + LETTER * max(len(row.explanation) for row in report.rows)
    return [
        ReportFigure(
            "recovery",
            "Texts in which each explanation finds the planted trigger",
            "Shares with 95 % intervals. Dashed: random scores.",
            (left + 3.6, 0.8 + 0.28 * len(report.rows)),
            partial(_draw, report=report),
            left=left,
        )
    ]


def _draw(figure: Figure, report: PlantedReport) -> None:
    axes = figure.add_subplot()
    for place, row in enumerate(report.rows):
        axes.plot((row.low or 0.0, row.high or 0.0), (place, place), color=SERIES[0], lw=2)
        axes.plot(row.found or 0.0, place, "o", color=SERIES[0], ms=5)
    axes.axvline(report.chance or 0.0, color=FAINT, ls="--", lw=1)
    axes.set_yticks(range(len(report.rows)), [row.explanation for row in report.rows])
    axes.set_xlim(-0.02, 1.02)
    axes.invert_yaxis()
    axes.set_xlabel("share of texts")
    axes.grid(axis="x", color=FAINT, alpha=0.25, lw=0.6)
