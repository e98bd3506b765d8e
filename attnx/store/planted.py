"""Stored tests with a planted trigger: one folder each, named by what was asked."""

from __future__ import annotations

from pathlib import Path

from ..disk import written_aside
from ..request.spec import canonical_json, digest
from ..results.planting.report import PlantedReport


def write_planted(report: PlantedReport, root: Path) -> Path:
    """Write page, Markdown, figures and JSON; they replace those of the same test before."""
    words = [trigger.words for trigger in report.triggers]
    asked = [report.task, report.model, report.kind, report.share, report.seeds, words]
    final = root / digest(canonical_json(asked), report.data["fingerprint"])
    with written_aside(final) as folder:
        report.save(folder, seen_from=final)
    return final
