"""The page of a comparison."""

from __future__ import annotations

from typing import Final

from ...results.comparison import Comparison, Difference, Outcome
from .report import render
from .strips import Scale, Strip

MARKS: Final[dict[Outcome, str]] = {
    "better": "✓",
    "worse": "✗",
    "higher": "↑",
    "lower": "↓",
    "within noise": "≈",
    "the same": "=",
    "undefined": "?",
}
CLASSES: Final = {"better": "supported", "worse": "contradicted", "within noise": "chance"}


def comparison_page(comparison: Comparison) -> str:
    """Every difference with its interval, those beyond noise marked, and what was left out."""
    return render(
        "comparison.html",
        title=comparison.title,
        comparison=comparison,
        tables=[
            (run, [(row, strip_beside_zero(row)) for row in comparison.rows if row.run == run.letter])
            for run in comparison.runs[1:]
        ],
        outcome_marks=MARKS,
        outcome_classes=CLASSES,
    )


def strip_beside_zero(row: Difference) -> Strip | None:
    """Difference and interval on a line of their own with 0 in the middle: measures have no common scale."""
    ends = [abs(end) for end in (row.difference, row.low, row.high) if end is not None]
    if row.difference is None or not max(ends):
        return None
    scale = Scale(-max(ends), max(ends))
    low, high = (None if end is None else scale.place(end) for end in (row.low, row.high))
    return Strip(mean=scale.place(row.difference), low=low, high=high, zero=scale.place(0), beside=())
