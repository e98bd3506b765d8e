"""Stored reports of sweeps: one folder each, named by what was asked."""

from __future__ import annotations

from collections.abc import Iterable
from glob import escape
from pathlib import Path

from ..disk import written_aside
from ..errors import DataError, in_one_line
from ..request.grid import Cell
from ..request.spec import digest
from ..results.sweep import SweepReport
from .home import home

FILE = f"{SweepReport.file_stem}.json"


def write_sweep(report: SweepReport, cells: Iterable[Cell], root: Path) -> Path:
    """Write page, heat maps and JSON of a sweep; they replace those of the same sweep before."""
    final = root / digest(*(cell.asked.canonical() for cell in cells))
    with written_aside(final) as folder:
        report.save(folder, seen_from=final)
    return final


def find_sweep(name: str, root: Path | None = None) -> SweepReport | None:
    """The stored sweep of that name or folder, or the only one whose name starts so; None if none is."""
    folder = root or home() / "sweeps"
    found = [path for path in (Path(name) / FILE, folder / name / FILE) if path.is_file()]
    found = found[:1] or (sorted(folder.glob(f"{escape(name)}*/{FILE}")) if name else [])
    if len(found) != 1:
        return None
    try:
        return SweepReport.from_json(found[0].read_text(encoding="utf-8")).stored_in(found[0].parent)
    except (OSError, ValueError) as error:
        raise DataError(f"The sweep in '{found[0].parent}' cannot be read: {in_one_line(error)}") from error
