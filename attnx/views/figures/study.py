"""The figures of a study: the mean of one measure in every setting, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...results.study import StudyReport, StudyRow
from .figure import FAINT, INK, SERIES, ReportFigure, slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_SETTINGS = 40  # more cannot be read; the table has all of them
LETTER = 0.066  # inches


def study_figures(report: StudyReport) -> list[ReportFigure]:
    """One figure for every measure that was found in several settings."""
    groups: dict[str, list[StudyRow]] = {}
    for finding in report.findings:
        if finding.mean is not None:
            groups.setdefault(finding.measure, []).append(finding)
    return [_figure(report.study.name, rows) for rows in groups.values() if 1 < len(rows) <= MOST_SETTINGS]


def _figure(study: str, rows: Sequence[StudyRow]) -> ReportFigure:
    left = 0.3 + LETTER * max(len(row.setting) for row in rows)
    published = any(row.published is not None for row in rows)
    return ReportFigure(
        slug(study, rows[0].measure),
        rows[0].title,
        "Means with 95 % intervals." + (" Diamond: published value." if published else ""),
        (left + 3.6, 0.8 + 0.28 * len(rows)),
        partial(_draw, rows=rows),
        left=left,
    )


def _draw(figure: Figure, rows: Sequence[StudyRow]) -> None:
    axes = figure.add_subplot()
    for place, row in enumerate(rows):
        if row.interval:
            axes.plot(row.interval, (place, place), color=SERIES[0], lw=2)
        axes.plot(row.mean or 0.0, place, "o", color=SERIES[0], ms=5)
        if row.published is not None:
            axes.plot(row.published, place, "D", color=INK, ms=4, fillstyle="none")
    axes.set_yticks(range(len(rows)), [row.setting for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel(rows[0].measure)
    axes.grid(axis="x", color=FAINT, alpha=0.25, lw=0.6)
