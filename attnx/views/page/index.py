"""The page over all runs and studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from ...results.judgement.records import Verdict
from ...results.report import Report
from ...results.study import StudyReport
from .templating import render


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One line of the index."""

    name: str
    path: str  # of its page, from the index
    written: datetime
    report: Report | StudyReport | None  # None: this version cannot read it

    @property
    def link(self) -> str:
        return quote(self.path)

    @property
    def kind(self) -> str:
        return "study" if isinstance(self.report, StudyReport) else "run"

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The headings of a run's verdict."""
        report = self.report
        return tuple(v for v in report.verdicts if v.share is not None) if isinstance(report, Report) else ()

    @property
    def accuracy(self) -> float | None:
        report = self.report
        if not isinstance(report, Report):
            return None
        return sum(quality.accuracy for quality in report.quality) / len(report.quality)


def index_page(entries: Sequence[IndexEntry]) -> str:
    """Every run and study with its verdict, newest first, each a link to its page."""
    return render("index.html", title="Runs and studies", entries=entries)
