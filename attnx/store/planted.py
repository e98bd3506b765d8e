"""Stored tests with a planted trigger: one folder each, named by what was asked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..disk import written_aside
from ..request.spec import RunSpec, digest
from ..results.planting.report import PlantedReport


def write_planted(report: PlantedReport, specs: Iterable[RunSpec], root: Path) -> Path:
    """Write page, Markdown, figures and JSON; they replace those of the same test before."""
    final = root / digest(report.data["fingerprint"], *(spec.canonical() for spec in specs))
    with written_aside(final) as folder:
        report.save(folder, seen_from=final)
    return final
