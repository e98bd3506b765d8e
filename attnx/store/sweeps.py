"""Stored reports of sweeps: one folder each, named by what was asked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..disk import written_aside
from ..request.grid import Cell
from ..request.spec import digest
from ..results.sweep import SweepReport


def write_sweep(report: SweepReport, cells: Iterable[Cell], root: Path) -> Path:
    """Write page, heat maps and JSON of a sweep; they replace those of the same sweep before."""
    final = root / digest(*(cell.asked.canonical() for cell in cells))
    with written_aside(final) as folder:
        report.save(folder, seen_from=final)
    return final
