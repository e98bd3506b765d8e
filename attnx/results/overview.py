"""A run or a study in brief: what it was and what came out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from .judgement.records import Status
from .report import Report
from .study import StudyReport
from .sweep import verdict_values

MOST = 2  # measures in a line; all are in the report


@dataclass(frozen=True, slots=True)
class Line:
    """A run or a study in brief."""

    name: str
    kind: Literal["run", "study", "unreadable"]
    written: datetime
    labels: dict[str, str]  # task, model, projection
    seeds: tuple[int, ...]
    numbers: dict[str, float | None]  # accuracy and the first measures, or the first findings
    verdicts: dict[str, Status]  # status by explanation and heading
    weights: tuple[str, ...]  # the folders of its weights
    reason: str = ""  # why it cannot be read

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; the time in ISO format."""
        return asdict(self) | {"written": self.written.isoformat(timespec="seconds")}

    @classmethod
    def from_dict(cls, values: Any) -> Line:
        """A line read back from `to_dict`; ValueError for anything else."""
        return _reader().validate_python(values)


@cache
def _reader() -> TypeAdapter[Line]:
    return TypeAdapter(Line)


def line_of(name: str, written: datetime, report: Report | StudyReport) -> Line:
    """A report in brief."""
    if isinstance(report, StudyReport):
        found = {f"{f.setting} {f.measure}": f.mean for f in report.findings[:MOST]}
        labels = {"study": report.study.label, **report.labels}
        return Line(name, "study", written, labels, report.spec.seeds, found, {}, ())
    values = next(iter(verdict_values(report).values()), {})
    first = {title: value.mean for title, value in list(values.items())[:MOST]}
    accuracy = sum(quality.accuracy for quality in report.quality) / len(report.quality)
    return Line(
        name=name,
        kind="run",
        written=written,
        labels=dict(report.labels),
        seeds=report.spec.seeds,
        numbers={"accuracy": accuracy, **first},
        verdicts={f"{v.explanation}, {v.heading}": v.status for v in report.verdicts if v.family is None},
        weights=tuple(report.provenance.weights_folders.values()),
    )
