"""The page of a comparison."""

from __future__ import annotations

from typing import Final

from ...results.comparison import Comparison, Difference, DifferenceOutcome
from .headline import of_comparison
from .strips import Scale, Strip
from .templating import render

MARKS: Final[dict[DifferenceOutcome, str]] = {
    "better": "✓",
    "worse": "✗",
    "higher": "↑",
    "lower": "↓",
    "no significant difference": "≈",
    "the same": "=",
    "undefined": "?",
}


def comparison_page(comparison: Comparison) -> str:
    """The page of a comparison: every difference with its interval and p-value, and the caveats."""
    headline = of_comparison(comparison)
    return render(
        "comparison.html",
        title=f"{headline} {comparison.title}",
        headline=headline,
        comparison=comparison,
        tables=[
            (run, [(row, strip_around_zero(row)) for row in comparison.rows if row.run == run.letter])
            for run in comparison.runs[1:]
        ],
        outcome_marks=MARKS,
    )


def strip_around_zero(row: Difference) -> Strip | None:
    """Difference and interval on a line with 0 in the middle, one scale for each row."""
    ends = [abs(end) for end in (row.difference, row.low, row.high) if end is not None]
    if row.difference is None or not max(ends):
        return None
    scale = Scale(-max(ends), max(ends))
    low, high = (None if end is None else scale.place(end) for end in (row.low, row.high))
    return Strip(mean=scale.place(row.difference), low=low, high=high, zero=scale.place(0), marks=())
