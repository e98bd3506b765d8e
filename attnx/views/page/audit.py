"""The page of an audit."""

from __future__ import annotations

from ...results.audit import AuditReport
from ..terminal.audit import LEGEND, VERIFIED, metric_rows, model_rows
from .headline import of_audit
from .templating import render


def audit_page(report: AuditReport) -> str:
    """How the models were verified, and how often every metric preferred a wrong explanation."""
    return render(
        "audit.html",
        title="Audit of metrics",
        headline=of_audit(report),
        report=report,
        models=model_rows(report),
        rows=metric_rows(report),
        verified=VERIFIED,
        legend=LEGEND,
    )
