"""The report of a study: what was found with more than one trained model."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import Field

from ..request.spec import Choice, RunSpec
from .markdown import format_number
from .records import SCHEMA, Number, PluginUsed, Record


class Finding(Record):
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
    def interval(self) -> str:
        """The interval as tables show it; nothing where there is none."""
        return "" if self.low is None else f"[{format_number(self.low)}, {format_number(self.high)}]"


class StudyReport(Record):
    """Everything a study found."""

    schema_: Literal[1] = Field(default=SCHEMA, alias="schema")
    study: Choice
    labels: dict[str, str]
    spec: RunSpec
    data: dict[str, str]
    plugins: tuple[PluginUsed, ...]
    environment: dict[str, str]
    findings: tuple[Finding, ...]
    seconds: float

    def select(self, setting: str, measure: str) -> Finding:
        """The finding of that measure in that setting."""
        found = [f for f in self.findings if (f.setting, f.measure) == (setting, measure)]
        if not found:
            known = ", ".join(f"'{f.setting}' '{f.measure}'" for f in self.findings)
            raise KeyError(f"No finding '{setting}' '{measure}' in this study: it has {known}.")
        return found[0]

    def to_json(self) -> str:
        """The report as JSON text."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=False) + "\n"
