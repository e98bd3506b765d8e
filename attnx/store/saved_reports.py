"""Everything that was kept, runs and studies alike, and the page that leads to all of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..disk import write_file
from ..errors import DataError, UsageError, did_you_mean
from ..results.report import Report
from ..results.study import StudyReport
from .home import home
from .runs import PAGE, read_report, read_study, write_page

FILES = ("report.json", "study.json")


@dataclass(frozen=True, slots=True)
class SavedReport:
    """A folder with a report; None where this version cannot read it."""

    folder: Path
    written: datetime
    report: Report | StudyReport | None


def saved_reports(root: Path | None = None) -> Iterator[SavedReport]:
    """All runs and studies below ATTNX_HOME, or in one folder, newest first."""
    written: dict[Path, float] = {}
    for path in _files(root):
        with suppress(FileNotFoundError):  # removed, or replaced by a writer, just now
            written[path] = path.stat().st_mtime
    for path in sorted(written, key=written.__getitem__, reverse=True):
        yield SavedReport(path.parent, datetime.fromtimestamp(written[path]), read_saved(path.parent))


def find_folder(name: str, root: Path | None = None) -> Path:
    """The folder of the run or study of that name, or of a beginning of it, or that folder."""
    here = Path(name)
    if any(os.path.isfile(here / file) for file in FILES):
        found = [here]
    else:
        known = {path.parent for path in _files(root)}
        exact = [folder for folder in known if folder.name == name]
        found = exact or sorted(folder for folder in known if name and folder.name.startswith(name))
        if not found:
            hint = did_you_mean(name, [folder.name for folder in known]) or " See 'attnx runs'."
            raise UsageError(f"No run or study '{name}' in '{roots(root)[0]}'.{hint}")
    if len(found) > 1:
        names = ", ".join(folder.name for folder in found[:5])
        raise UsageError(f"'{name}' begins the names of {len(found)} runs and studies: {names}.")
    return found[0]


def take(name: str, root: Path | None = None) -> SavedReport:
    """The run or study of that name, of a beginning of it, or in that folder."""
    folder = find_folder(name, root)
    report = read_saved(folder)
    if report is None:
        raise DataError(
            f"The report in '{folder}' is damaged, or of another version of attnx: evaluate again."
        )
    return SavedReport(folder, datetime.fromtimestamp(folder.stat().st_mtime), report)


def write_index(kept: list[SavedReport], page: Path) -> None:
    """Write the page that leads to the page of every run and study; those that have none get one."""
    from ..views.page.index import IndexEntry, index_page

    for one in kept:
        if one.report is not None and not (one.folder / PAGE).is_file():
            write_page(one.report, one.folder)
    entries = [
        IndexEntry(one.folder.name, _link(one.folder, page.parent), one.written, one.report) for one in kept
    ]
    write_file(page, index_page(entries))


def _link(folder: Path, beside: Path) -> str:
    return Path(os.path.relpath(folder / PAGE, beside)).as_posix()


def _files(root: Path | None) -> list[Path]:
    return [path for folder in roots(root) for path in report_files(folder)]


def report_files(root: Path) -> list[Path]:
    """The files that make folders in one folder runs or studies."""
    return [path for name in FILES for path in root.glob(f"[!.]*/{name}")]


def roots(root: Path | None) -> list[Path]:
    """The folders in which runs and studies are: one that is given, or those in ATTNX_HOME."""
    return [root] if root else [home() / "runs", home() / "studies"]


def read_saved(folder: Path) -> Report | StudyReport | None:
    """The report in a folder; None where this version cannot read it."""
    if (folder / "report.json").is_file():
        return read_report(folder)
    return read_study(folder)
