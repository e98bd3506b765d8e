"""A run or a study in brief: what it was and what came out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from .judgement.records import Grade
from .report import Report
from .study import StudyReport
from .sweep import verdict_values

MOST = 2  # measures in a line; all are in the report


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A stored run or study in brief.

    Attributes:
        name: its name, which is that of its folder.
        kind: whether it is a run or a study, or cannot be read.
        written: when it was stored.
        labels: task, model and projection; of a study, the study too.
        seeds: its training seeds.
        numbers: accuracy and the first measures; of a study, the first findings.
        verdicts: the grade by explanation and heading.
        weights: the names of its weights.
        folder: where it is stored.
        reason: why it cannot be read, if it cannot.
    """

    name: str
    kind: Literal["run", "study", "unreadable"]
    written: datetime
    labels: dict[str, str]
    seeds: tuple[int, ...]
    numbers: dict[str, float | None]
    verdicts: dict[str, Grade]
    weights: tuple[str, ...]
    folder: Path
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; the time in ISO format."""
        plain = {"written": self.written.isoformat(timespec="seconds"), "folder": str(self.folder)}
        return asdict(self) | plain

    @classmethod
    def from_dict(cls, values: Any) -> StoredRun:
        """What `to_dict` gave, read back; ValueError for anything else."""
        return _reader().validate_python(values)


@cache
def _reader() -> TypeAdapter[StoredRun]:
    return TypeAdapter(StoredRun)


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """Trained weights and the runs that use them.

    Attributes:
        folder: where they are stored; its name is theirs.
        written: when they were stored.
        bytes: how large they are.
        runs: the names of the stored runs that use them.
    """

    folder: Path
    written: datetime
    bytes: int
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """What is kept of one kind to be read instead of computed again.

    Attributes:
        what: the kind: importances, or hidden states.
        files: how many.
        bytes: how large they are together.
    """

    what: str
    files: int
    bytes: int


def in_brief(folder: Path, written: datetime, report: Report | StudyReport) -> StoredRun:
    """A report in brief."""
    if isinstance(report, StudyReport):
        found = {f"{f.setting} {f.measure}": f.mean for f in report.findings[:MOST]}
        labels = {"study": report.study.label, **report.labels}
        return StoredRun(folder.name, "study", written, labels, report.spec.seeds, found, {}, (), folder)
    values = next(iter(verdict_values(report).values()), {})
    measures = {title: value.mean for title, value in values.items()}
    if not measures:  # none that random scores are compared with
        measures = {s.title: s.mean for s in report.summaries if s.predicted is None and not s.yardstick}
    first = dict(list(measures.items())[:MOST])
    accuracy = sum(quality.accuracy for quality in report.quality) / len(report.quality)
    return StoredRun(
        name=folder.name,
        kind="run",
        written=written,
        labels=dict(report.labels),
        seeds=report.spec.seeds,
        numbers={"accuracy": accuracy, **first},
        verdicts={f"{v.explanation}, {v.heading}": v.grade for v in report.verdicts if v.share is not None},
        weights=tuple(report.provenance.weights_folders.values()),
        folder=folder,
    )
