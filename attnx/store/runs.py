"""Writes and reads the reports of runs and studies, one folder each."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..disk import in_the_way, write_file, written_aside
from ..errors import AttnxWarning, DataError
from ..host.catalog import Catalog
from ..request.keep_levels import LEVELS, Keep
from ..request.spec import digest
from ..results.examples import Examples
from ..results.report import Report
from ..results.study import StudyReport
from .examples import StoredExamples, stored_level, write_examples
from .find_by_name import find_by_name
from .home import home
from .seals import read_sealed, seal

REPORT, STUDY = "report.json", "study.json"
PAGE = "report.html"  # of a run or a study
UNREADABLE = "is damaged, was edited or renamed, or comes from another version of attnx"


class Runs:
    """Reports of finished runs, one folder each, named by fingerprint."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or home() / "runs"

    def find(self, fingerprint: str, keep: Keep = "none") -> Report | None:
        """The report of a run; None if it is missing, unreadable, or stores less than `keep`."""
        folder = self.folder(fingerprint)
        if os.path.isfile(folder):
            raise in_the_way(folder)
        stored_before = os.path.isfile(folder / REPORT)  # another process may write it from now on
        report = read_report(folder)
        if report is None or report.fingerprint != fingerprint:
            if stored_before:
                warnings.warn(
                    f"'{folder / REPORT}' {UNREADABLE}; the run is computed again.",
                    AttnxWarning,
                    stacklevel=2,
                )
            return None
        stored = stored_level(folder) if keep != "none" else keep
        return report if LEVELS.index(stored) >= LEVELS.index(keep) else None

    def open(self, name: str) -> tuple[Path, Report]:
        """A run by its name, the first characters of its name, or its folder."""
        folder = Path(name) if os.path.isfile(Path(name) / REPORT) else self._named(name)
        report = read_report(folder)
        if report is None:
            raise unreadable(folder)
        return folder, report

    def _named(self, name: str) -> Path:
        return find_by_name(name, map(self.folder, self.names()), "run", self.root)

    def names(self) -> list[str]:
        """The names of finished runs, newest first."""
        written: dict[str, float] = {}
        for path in self.root.glob(f"[!.]*/{REPORT}"):
            with suppress(FileNotFoundError):  # deleted or replaced by another process just now
                written[path.parent.name] = path.stat().st_mtime
        return sorted(written, key=written.__getitem__, reverse=True)

    def folder(self, fingerprint: str) -> Path:
        return self.root / fingerprint

    def write(self, report: Report, examples: Examples | None = None, catalog: Catalog | None = None) -> Path:
        """Write a run; its page describes the components of the catalog, by default all installed ones."""
        final = self.folder(report.fingerprint)
        with written_aside(final) as folder:
            (folder / REPORT).write_text(report.to_json(), encoding="utf-8")
            (folder / "report.md").write_text(report.to_markdown(), encoding="utf-8")
            if examples is not None:
                write_examples(examples, folder)
            seal(folder, report.fingerprint)
        write_page(report.with_examples(examples), final, catalog)
        return final

    def __iter__(self) -> Iterator[Report]:
        """Finished runs, newest first; a run that cannot be read is skipped with a warning."""
        for name in self.names():
            report = read_report(self.folder(name))
            if report is not None:
                yield report
            elif os.path.isfile(self.folder(name) / REPORT):  # otherwise it was deleted just now
                text = f"'{self.folder(name) / REPORT}' {UNREADABLE}; the run is left out."
                warnings.warn(text, AttnxWarning, stacklevel=2)


def unreadable(folder: Path) -> DataError:
    """The error of a report that is stored but cannot be read."""
    return DataError(f"The report in '{folder}' {UNREADABLE}. Evaluate again.")


def read_report(folder: Path) -> Report | None:
    """The report of a run; None if it is missing, damaged, edited or from another version."""
    report = read_sealed(folder, REPORT, Report.from_json, lambda found: found.fingerprint)
    return report and report.with_examples(StoredExamples(folder))


def read_study(folder: Path) -> StudyReport | None:
    """The report of a study; None if it is missing, damaged, edited or from another version."""
    return read_sealed(folder, STUDY, StudyReport.from_json, _study_name)


def write_study(report: StudyReport, root: Path, catalog: Catalog | None = None) -> Path:
    """Write the report of a study into a folder that is named by the study and its settings."""
    final = root / _study_name(report)
    with written_aside(final) as folder:
        (folder / STUDY).write_text(report.to_json(), encoding="utf-8")
        (folder / "study.md").write_text(report.to_markdown(), encoding="utf-8")
        seal(folder, final.name)
    write_page(report, final, catalog)
    return final


def _study_name(report: StudyReport) -> str:
    return f"{report.study.name}-{digest(report.study.label, report.spec.canonical())}"


def write_page(report: Report | StudyReport, folder: Path, catalog: Catalog | None = None) -> None:
    """Write the HTML page of a report into its folder; it can be rebuilt from the other files."""
    text = report.to_html(catalog)
    with suppress(FileNotFoundError):  # another process is replacing the folder
        write_file(folder / PAGE, text, hidden_in=folder.parent)
