"""Reports of finished runs and studies, one folder each."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..errors import DataError, UsageError, did_you_mean
from ..report.examples import Examples
from ..report.findings import StudyReport
from ..report.records import Report
from ..request.keep import LEVELS, Keep
from ..request.spec import digest
from .examples import KeptIn, kept_level, write_examples
from .home import home, in_the_way, written_aside
from .seals import check_seal, seal

REPORT, PAGE = "report.json", "report.html"  # a study has such a page too


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
        """Finished runs, newest first."""
        for name in self.names():
            report = read_report(self.folder(name))
            if report is not None:
                yield report


def read_report(folder: Path) -> Report | None:
    """A report, or None where no file is, or one of another version, damaged or edited."""
    while True:
        before = _which(folder)
        report = _read_sealed(folder)
        if report is not None or _which(folder) == before:  # or a writer has just replaced the folder
            return report


def _which(folder: Path) -> int:
    """What tells a folder from another of the same name."""
    try:
        return folder.stat().st_ino
    except OSError:
        return 0


def _read_sealed(folder: Path) -> Report | None:
    try:
        report = Report.from_json((folder / REPORT).read_text(encoding="utf-8"))
        if check_seal(folder, [REPORT]) != report.fingerprint:
            return None
        return report.with_examples(KeptIn(folder))
    except (FileNotFoundError, NotADirectoryError, KeyError, TypeError, ValueError, RecursionError):
        return None


def write_study(report: StudyReport, root: Path) -> Path:
    """Write a study's report into a folder named by what was asked."""
    name = digest(report.study.label, report.spec.canonical())
    final = root / f"{report.study.name}-{name}"
    with written_aside(final) as folder:
        (folder / "study.json").write_text(report.to_json(), encoding="utf-8")
        (folder / "study.md").write_text(report.to_markdown(), encoding="utf-8")
    write_page(report, final)
    return final


def write_page(report: Report | StudyReport, folder: Path) -> None:
    """Write the page of a report into its folder: it can be made again from the rest at any time."""
    text = report.to_html()
    aside = folder / f".{PAGE}-{os.getpid()}"
    with suppress(FileNotFoundError):  # another writer of the same run is replacing the folder
        aside.write_text(text, encoding="utf-8")
        aside.replace(folder / PAGE)
