"""The page of a reproduction."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...results.reproduction import ClaimStatus, Reproduction
from ..figures.figure import ReportFigure, slug, to_inline_svg
from ..figures.report import curve_drawings, training_drawings
from ..terminal.reproduction import STATUS_IN_WORDS, cell, conditions, untested
from .headline import of_reproduction
from .templating import render

MARKS: Final[dict[ClaimStatus, str]] = {
    "holds": "✓",
    "does not hold": "✗",
    "open": "?",
    "undertrained": "?",
}


def reproduction_page(found: Reproduction) -> str:
    """The page of a reproduction: claims, table, every comparison, and the conditions."""
    from markupsafe import Markup

    headline = of_reproduction(found)
    columns = [column for column in found.columns if not column.given]
    return render(
        "reproduction.html",
        title=str(headline),
        headline=headline,
        found=found,
        columns=columns,
        rows=[(row, [cell(found.value(row, c.name), c.digits) for c in columns]) for row in found.rows],
        conditions=list(conditions(found)),
        untested=list(untested(found)),
        figures=[(drawing, Markup(to_inline_svg(drawing))) for drawing in figures(found)],
        claim_marks=MARKS,
        status_words=STATUS_IN_WORDS,
    )


def figures(found: Reproduction) -> list[ReportFigure]:
    """The training curve of every row, and other curves with a line for every row."""
    courses = [
        replace(
            drawing,
            name=slug(row, drawing.name),
            title=f"{row}: {drawing.title[0].lower()}{drawing.title[1:]}",
        )
        for row in found.rows
        for drawing in training_drawings([c for c in found.curves if c.explanation == row])
    ]
    return [*curve_drawings(found.curves), *courses]
