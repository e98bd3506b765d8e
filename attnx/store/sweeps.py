"""Where the reports of sweeps are kept: one folder each, named by what was asked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..disk import written_aside
from ..request.grid import Cell
from ..request.spec import digest
from ..results.sweep import SweepReport
from .home import home


def write_sweep(report: SweepReport, cells: Iterable[Cell], root: Path | None = None) -> Path:
    """Write the page, the heat maps and the JSON of a sweep over those of the same sweep before."""
    final = (root or home() / "sweeps") / digest(*(cell.asked.canonical() for cell in cells))
    with written_aside(final) as folder:
        report.save(folder, seen_from=final)
    return final
