"""The report of a study: what was found with more than one trained model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ..request.spec import Choice, RunSpec
from .formatting import Interval, Number, format_number, interval_of, with_arrow
from .provenance import PluginUsed, Record
from .report import SCHEMA
from .selection import NoSuchRow

if TYPE_CHECKING:
    import pandas


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


class StudyReport(Record):
    """Everything a study found."""

    schema_: Literal[1] = Field(default=SCHEMA, alias="schema")
    study: Choice
    labels: dict[str, str]
    spec: RunSpec
    data: dict[str, str]
    plugins: tuple[PluginUsed, ...]
    environment: dict[str, str]
    findings: tuple[StudyRow, ...]
    seconds: float

    def select(self, setting: str, measure: str) -> StudyRow:
        """The finding of that measure in that setting."""
        found = [f for f in self.findings if (f.setting, f.measure) == (setting, measure)]
        if not found:
            known = ", ".join(f"'{f.setting}' '{f.measure}'" for f in self.findings)
            raise NoSuchRow(f"No finding '{setting}' '{measure}' in this study: it has {known}.")
        return found[0]

    def to_json(self) -> str:
        """The report as JSON text."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> StudyReport:
        """A report read back from its JSON text."""
        return cls.model_validate_json(text)

    def to_frame(self) -> pandas.DataFrame:
        """The findings as a pandas DataFrame, one row each (needs pandas)."""
        import pandas

        return pandas.DataFrame([finding.model_dump() for finding in self.findings])

    def to_markdown(self) -> str:
        """The report as a Markdown page."""
        from ..views.markdown import study_page

        return study_page(self)

    def to_html(self) -> str:
        """The report as a page of one file."""
        from ..views.page.report import study_page

        return study_page(self)

    def _repr_html_(self) -> str:
        """The findings, for a notebook."""
        from ..views.page.report import study_fragment

        return study_fragment(self)

    def __repr__(self) -> str:
        names = " · ".join(self.labels.values())
        return f"<StudyReport {self.study.label}: {names}; {len(self.findings)} findings>"

    __str__ = __repr__
