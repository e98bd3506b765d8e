"""The page of a reproduction."""

from __future__ import annotations

from typing import Final

from .page import render
from .reproduction import Reproduction, Status
from .reproduction_text import cell, conditions, untested

MARKS: Final[dict[Status, str]] = {"holds": "✓", "does not hold": "✗", "open": "?"}
CLASSES: Final[dict[Status, str]] = {
    "holds": "supported",
    "does not hold": "contradicted",
    "open": "unknown",
}


def reproduction_page(found: Reproduction) -> str:
    """The claims, the table, every comparison, and what it was run with."""
    said = [line.rpartition(": ") for line in conditions(found)]  # options of a task have colons too
    columns = [column for column in found.columns if not column.given]
    return render(
        "reproduction.html",
        title=found.source,
        found=found,
        columns=columns,
        rows=[(row, [cell(found.value(row, c.name), c.digits) for c in columns]) for row in found.rows],
        conditions=[(name, text) for name, _, text in said],
        untested=list(untested(found)),
        claim_marks=MARKS,
        claim_classes=CLASSES,
    )
