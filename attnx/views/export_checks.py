"""The tables of audits, reproductions and tests with a planted trigger for papers."""

from __future__ import annotations

from collections.abc import Collection

from ..errors import UsageError
from ..results.audit import AuditReport
from ..results.planting.report import PlantedReport
from ..results.reproduction import Reproduction
from .printed_table import Share, Shares, Table
from .terminal.planted import grades


def audited(report: AuditReport, names: Collection[str]) -> Table:
    """How often each metric preferred a wrong explanation, the most reliable first."""
    rows = sorted(
        (row for row in report.rows if row.headline and row.name in names),
        key=lambda row: (row.inversions / max(1, row.comparisons), row.metric),
    )
    return Table(
        "Audit where the right explanation is known. Inversions: pairs in which the metric significantly "
        "preferred the worse explanation. Correct: pairs in which it significantly preferred the better one. "
        "Degraded: rank correlation with the share of deciding words that were replaced; −1 is best.",
        "audit",
        ("Metric", "Reference", "Inversions", "Pairs", "Correct", "Degraded"),
        tuple(
            (
                *(row.metric, row.reference or "", row.inversions, row.comparisons),
                *(Share(row.correct / row.comparisons if row.comparisons else None), row.degradation),
            )
            for row in rows
        ),
        tuple(record for record in report.records() if record["name"] in names),
    )


def recovered(report: PlantedReport, explanations: Collection[str]) -> Table:
    """How often each explanation finds the trigger, next to the removal test."""
    if not report.rows:
        raise UsageError(report.sentence)
    rows = [row for row in report.rows if row.explanation in explanations]
    return Table(
        f"{report.model} on {report.task}: share of texts in which each explanation finds the planted "
        f"{report.kind} trigger, with its 95 % interval; random scores find it in "
        f"{100 * (report.chance or 0.0):.0f} %. AP: average precision. Removal test: share of the way from "
        "random to the best order found, on the same models.",
        "planted",
        ("Explanation", "Found", "95 % interval", "AP", "Removal test", "Grade"),
        tuple(
            (
                *(row.explanation, Share(row.found), Shares(row.low, row.high), row.average_precision),
                *(Share(row.share), grades(row)),
            )
            for row in rows
        ),
        tuple(row.model_dump() for row in rows),
    )


def reproduced(found: Reproduction, columns: Collection[str]) -> Table:
    """Measured and published values."""
    given = {column.name for column in found.columns if column.given}
    rows = [value for value in found.values if value.column in columns and value.column not in given]
    return Table(
        f"{found.source}, measured again (size {found.size}): means with 95 % intervals over seeds and "
        "examples, and the published values.",
        found.experiment,
        ("Row", "Column", "Mean", "95 % interval", "Published"),
        tuple((value.row, value.column, value.mean, value.interval, value.published) for value in rows),
        tuple(value.model_dump(exclude={"seeds"}) for value in rows),
    )
