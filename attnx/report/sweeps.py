"""The report of a sweep: a row for every explanation in every cell, and what could not be done."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict

from .records import Report, Status


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Value(_Record):
    """A measure of one explanation with its interval and the same of random scores."""

    mean: float | None
    low: float | None
    high: float | None
    random: float | None


class CellRow(_Record):
    """One explanation in one cell."""

    task: str
    model: str
    projection: str
    training: str
    explanation: str
    run: str  # fingerprint
    accuracy: float
    faithfulness: Status | None
    interpretability: Status | None
    values: dict[str, Value]  # by measure and reference, those that a verdict rests on


class Undone(_Record):
    """A cell without a result, and why."""

    cell: str
    reason: str


class SweepReport(_Record):
    """Everything a sweep found."""

    schema_version: Literal[1] = 1
    rows: tuple[CellRow, ...]
    refused: tuple[Undone, ...]  # pairings that make no sense
    failed: tuple[Undone, ...]
    seconds: float
    workers: int

    def to_json(self) -> str:
        """The report as JSON text."""
        return json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def rows_of(report: Report, training: str) -> list[CellRow]:
    """The rows of one cell's report."""
    accuracy = sum(quality.accuracy for quality in report.quality) / len(report.quality)
    found: dict[str, dict[str, Value]] = {}
    status: dict[tuple[str, str], Status] = {}
    for verdict in report.verdicts:
        if verdict.family is None:
            status[verdict.explanation, verdict.heading] = verdict.status
        for row in verdict.rows:
            title = " ".join(filter(None, [row.metric, row.measure * (row.measure != row.metric)]))
            name = f"{title} with {row.reference}" if row.reference else title
            value = _value(report, verdict.explanation, row.metric, row.measure, row.reference, row.random)
            found.setdefault(verdict.explanation, {})[name] = value
    explanations = dict.fromkeys(
        [*found, *(s.explanation for s in report.summaries if s.explanation is not None)]
    )
    return [
        CellRow(
            task=report.labels["task"],
            model=report.labels["model"],
            projection=report.labels["projection"],
            training=training,
            explanation=explanation,
            run=report.fingerprint,
            accuracy=accuracy,
            faithfulness=status.get((explanation, "faithfulness")),
            interpretability=status.get((explanation, "interpretability")),
            values=found.get(explanation, {}),
        )
        for explanation in explanations
    ]


def _value(
    report: Report, explanation: str, metric: str, measure: str, reference: str | None, random: float | None
) -> Value:
    summary = next(
        s
        for s in report.summaries
        if (s.metric, s.measure, s.reference, s.group) == (metric, measure, reference, "all")
        and s.explanation in (explanation, None)
    )
    return Value(mean=summary.mean, low=summary.low, high=summary.high, random=random)
