"""The report of a study: what was found with more than one trained model."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from ..request.spec import Choice, RunSpec
from .caution import Caution
from .formatting import Interval, Number, format_number, interval_of, with_arrow
from .provenance import PluginUsed, Record
from .result import Result
from .selection import NoSuchRow


class StudyRow(Record):
    """One measure in one setting of a study, over all seeds."""

    setting: str
    measure: str
    direction: Literal["up", "down", "none"]
    mean: Number
    sd: Number
    low: Number
    high: Number
    n: int
    undefined: int
    seeds: tuple[Number, ...]
    published: Number
    source: str

    @property
    def title(self) -> str:
        """The measure with an arrow to the better side."""
        return with_arrow(self.measure, self.direction)

    @property
    def shown(self) -> str:
        """The mean with its interval as tables show them."""
        return f"{format_number(self.mean)} {self.interval or ''}".rstrip()

    @property
    def interval(self) -> Interval | None:
        """The ends of the interval; None where there is none."""
        return interval_of(self.low, self.high)


class StudyReport(Result):
    """Everything a study found."""

    file_stem: ClassVar[str] = "study"

    study: Choice
    labels: dict[str, str]
    spec: RunSpec
    data: dict[str, str]
    plugins: tuple[PluginUsed, ...]
    environment: dict[str, str]
    findings: tuple[StudyRow, ...]
    warnings: tuple[Caution, ...] = ()
    seconds: float

    def select(self, setting: str, measure: str) -> StudyRow:
        """The finding of that measure in that setting."""
        found = [f for f in self.findings if (f.setting, f.measure) == (setting, measure)]
        if not found:
            known = ", ".join(f"'{f.setting}' '{f.measure}'" for f in self.findings)
            raise NoSuchRow(f"No finding '{setting}' '{measure}' in this study: it has {known}.")
        return found[0]

    def records(self) -> list[dict[str, Any]]:
        """The findings, one row each."""
        return [finding.model_dump() for finding in self.findings]

    def __repr__(self) -> str:
        names = " · ".join(self.labels.values())
        return f"<StudyReport {self.study.label}: {names}; {len(self.findings)} findings>"
