"""Stored sweeps, one folder each, named by what was asked; and results besides runs and studies, by name."""

from __future__ import annotations

from collections.abc import Iterable
from glob import escape
from pathlib import Path
from typing import Final

from ..disk import written_aside
from ..errors import DataError, in_one_line
from ..request.grid import Cell
from ..request.spec import digest
from ..results.audit import AuditReport
from ..results.planting.report import PlantedReport
from ..results.reproduction import Reproduction
from ..results.result import Result
from ..results.sweep import SweepReport
from .home import home

KINDS: Final[dict[type[Result], str]] = {  # and their folders in ATTNX_HOME
    SweepReport: "sweeps",
    Reproduction: "reproductions",
    PlantedReport: "planted",
    AuditReport: "audits",
}


def write_sweep(report: SweepReport, cells: Iterable[Cell], root: Path) -> Path:
    """Write page, heat maps and JSON of a sweep; they replace those of the same sweep before."""
    final = root / digest(*(cell.asked.canonical() for cell in cells))
    with written_aside(final) as folder:
        report.save(folder, seen_from=final)
    return final


def find_result(name: str, root: Path | None = None) -> Result | None:
    """The stored result of that name or folder, or the only one of its kind whose name starts so."""
    for kind, place in KINDS.items():
        found = _find(kind, name, root or home() / place)
        if found is not None:
            return found
    return None


def _find(kind: type[Result], name: str, folder: Path) -> Result | None:
    file = f"{kind.file_stem}.json"
    found = [path for path in (Path(name) / file, folder / name / file) if path.is_file()]
    found = found[:1] or (sorted(folder.glob(f"{escape(name)}*/{file}")) if name else [])
    if len(found) != 1:
        return None
    try:
        return kind.from_json(found[0].read_text(encoding="utf-8")).stored_in(found[0].parent)
    except (OSError, ValueError) as error:
        what = f"The {kind.file_stem} in '{found[0].parent}'"
        raise DataError(f"{what} cannot be read: {in_one_line(error)}") from error
