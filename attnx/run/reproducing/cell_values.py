"""The values of one column of a paper's table, in what a run or a study gave."""

from __future__ import annotations

import numpy as np

from ...errors import UsageError
from ...registry.experiments import Column
from ...results.examples import Examples
from ...results.judgement.claims import RowValues
from ...results.report import Report
from .published_studies import StudyResult

CellResult = Report | StudyResult


def values_of(found: tuple[CellResult, ...], column: Column, setting: str) -> RowValues:
    """The values of a column in what one cell gave."""
    for one in found:
        if isinstance(one, Report):
            return _of_report(one, column)
        if (setting, column.measure) in one.values:
            return RowValues(one.values[setting, column.measure], one.examples)
    known = "; ".join(f"{s} {m}" for one in found if isinstance(one, StudyResult) for s, m in one.values)
    raise UsageError(f"The study has no '{setting}' '{column.measure}'; it has {known}.")


def _of_report(report: Report, column: Column) -> RowValues:
    examples = report.examples()
    if column.measure == "accuracy":
        return RowValues((examples.predicted == examples.labels).astype(float), examples.ids)
    if column.at is not None:
        return _of_curves(report, column.measure, column.at)
    summary = report.select(
        column.measure, explanation=column.explanation or None, reference=column.reference or None
    )
    number = _column(examples, summary.metric, summary.measure, summary.explanation, summary.reference)
    if number is not None:
        return RowValues(examples.measures[:, :, number].astype(float), examples.ids)
    return RowValues(np.array(summary.seeds, dtype=float)[:, None], None)  # of the split as a whole


def _of_curves(report: Report, metric: str, at: float) -> RowValues:
    """The curve of attention of every seed, at the point nearest to `at`."""
    curves = [
        c for c in report.curves if (c.kind, c.metric, c.explanation) == ("metric", metric, "attention")
    ]
    found = [curve.y[int(np.abs(np.array(curve.x) - at).argmin())] for curve in curves]
    return RowValues(np.array(found, dtype=float)[:, None], None)


def _column(
    examples: Examples, metric: str, measure: str, explanation: str | None, reference: str | None
) -> int | None:
    wanted = (metric, measure, explanation, reference)
    columns = [(c.metric, c.measure, c.explanation, c.reference) for c in examples.columns]
    return columns.index(wanted) if wanted in columns else None
