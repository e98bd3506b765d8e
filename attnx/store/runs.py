"""Reports of finished runs and studies, one folder each."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..disk import in_the_way, write_file, written_aside
from ..errors import DataError, UsageError, did_you_mean
from ..request.keep_levels import LEVELS, Keep
from ..request.spec import digest
from ..results.examples import Examples
from ..results.report import Report
from ..results.study import StudyReport
from .examples import StoredExamples, kept_level, write_examples
from .home import home
from .seals import read_sealed, seal

REPORT, STUDY = "report.json", "study.json"
PAGE = "report.html"  # of either
UNREADABLE = "is damaged, edited, or of another version of attnx"


class Runs:
    """Reports of finished runs, one folder each, named by fingerprint."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or home() / "runs"

    def find(self, fingerprint: str, keep: Keep = "none") -> Report | None:
        """The report of a run; None where there is none that this version can read, or that keeps less."""
        folder = self.folder(fingerprint)
        if os.path.isfile(folder):
            raise in_the_way(folder)
        report = read_report(folder)
        if report is None or report.fingerprint != fingerprint:
            if os.path.isfile(folder / REPORT):
                print(
                    f"warning: '{folder / REPORT}' is not what was written: computing again", file=sys.stderr
                )
            return None
        kept = kept_level(folder) if keep != "none" else keep
        return report if LEVELS.index(kept) >= LEVELS.index(keep) else None

    def open(self, name: str) -> tuple[Path, Report]:
        """A run by its name, the beginning of it, or its folder."""
        folder = Path(name) if os.path.isfile(Path(name) / "report.json") else self._named(name)
        report = read_report(folder)
        if report is None:
            raise DataError(
                f"The report in '{folder}' is damaged, or of another version of attnx: evaluate again."
            )
        return folder, report

    def _named(self, name: str) -> Path:
        known = self.names()
        found = [other for other in known if other.startswith(name)] if name else []
        if name in known or len(found) == 1:
            return self.folder(name if name in known else found[0])
        if found:
            raise UsageError(f"'{name}' begins the names of {len(found)} runs: {', '.join(found[:5])}.")
        hint = did_you_mean(name, known) or (f" There are {len(known)}: see 'attnx runs'." if known else "")
        raise UsageError(f"No run '{name}' in '{self.root}'.{hint}")

    def names(self) -> list[str]:
        """The names of finished runs, newest first."""
        written: dict[str, float] = {}
        for path in self.root.glob("[!.]*/report.json"):
            with suppress(FileNotFoundError):  # removed, or replaced by another writer, just now
                written[path.parent.name] = path.stat().st_mtime
        return sorted(written, key=written.__getitem__, reverse=True)

    def folder(self, fingerprint: str) -> Path:
        return self.root / fingerprint

    def write(self, report: Report, examples: Examples | None = None) -> Path:
        final = self.folder(report.fingerprint)
        with written_aside(final) as folder:
            (folder / REPORT).write_text(report.to_json(), encoding="utf-8")
            (folder / "report.md").write_text(report.to_markdown(), encoding="utf-8")
            if examples is not None:
                write_examples(examples, folder)
            seal(folder, report.fingerprint)
        write_page(report.with_examples(examples), final)
        return final

    def __iter__(self) -> Iterator[Report]:
        """Finished runs, newest first; one that cannot be read is told."""
        for name in self.names():
            report = read_report(self.folder(name))
            if report is not None:
                yield report
            elif os.path.isfile(self.folder(name) / REPORT):  # or it was deleted just now
                print(f"warning: '{self.folder(name) / REPORT}' {UNREADABLE}: left out", file=sys.stderr)


def read_report(folder: Path) -> Report | None:
    """A report, or None where no file is, or one of another version, damaged or edited."""
    report = read_sealed(folder, REPORT, Report.from_json, lambda found: found.fingerprint)
    return report and report.with_examples(StoredExamples(folder))


def read_study(folder: Path) -> StudyReport | None:
    """A study's report, or None as for a run's."""
    return read_sealed(folder, STUDY, StudyReport.from_json, _study_name)


def write_study(report: StudyReport, root: Path) -> Path:
    """Write a study's report into a folder named by what was asked."""
    final = root / _study_name(report)
    with written_aside(final) as folder:
        (folder / STUDY).write_text(report.to_json(), encoding="utf-8")
        (folder / "study.md").write_text(report.to_markdown(), encoding="utf-8")
        seal(folder, final.name)
    write_page(report, final)
    return final


def _study_name(report: StudyReport) -> str:
    return f"{report.study.name}-{digest(report.study.label, report.spec.canonical())}"


def write_page(report: Report | StudyReport, folder: Path) -> None:
    """Write the page of a report into its folder: it can be made again from the rest at any time."""
    text = report.to_html()
    with suppress(FileNotFoundError):  # another writer of the same run is replacing the folder
        write_file(folder / PAGE, text, hidden_in=folder.parent)
