"""All stored runs and studies, and the index page that links to them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..disk import write_file
from ..host.catalog import Catalog
from ..results.report import Report
from ..results.study import StudyReport
from .find_by_name import find_by_name
from .home import home
from .runs import PAGE, REPORT, STUDY, read_report, read_study, unreadable, write_page

FILES = (REPORT, STUDY)


@dataclass(frozen=True, slots=True)
class SavedReport:
    """The folder of a run or study and its report; None if the report cannot be read."""

    folder: Path
    written: datetime
    report: Report | StudyReport | None


def saved_reports(root: Path | None = None) -> Iterator[SavedReport]:
    """All runs and studies in ATTNX_HOME, or in one folder, newest first."""
    written: dict[Path, float] = {}
    for path in _files(root):
        with suppress(FileNotFoundError):  # deleted or replaced by another process just now
            written[path] = path.stat().st_mtime
    for path in sorted(written, key=written.__getitem__, reverse=True):
        yield SavedReport(path.parent, datetime.fromtimestamp(written[path]), read_saved(path.parent))


def find_folder(name: str, root: Path | None = None) -> Path:
    """The folder of a run or study: by its name, the first characters of its name, or its path."""
    here = Path(name)
    if any(os.path.isfile(here / file) for file in FILES):
        return here
    return find_by_name(name, (path.parent for path in _files(root)), "run or study", root or home())


def load_saved(name: str, root: Path | None = None) -> Report | StudyReport:
    """The report of a run or study by its name, the first characters of its name, or its folder."""
    folder = find_folder(name, root)
    report = read_saved(folder)
    if report is None:
        raise unreadable(folder)
    return report.stored_in(folder)


def page_of(report: Report | StudyReport, catalog: Callable[[], Catalog]) -> Path:
    """The page of a stored report, written first if it does not exist."""
    assert report.folder is not None  # it was read from there
    page = report.folder / PAGE
    if not page.is_file():
        write_page(report, report.folder, catalog())
    return page


def write_index(saved: list[SavedReport], page: Path, catalog: Catalog | None = None) -> None:
    """Write the index page, and the page of every run and study that has none yet."""
    from ..views.page.index import IndexEntry, index_page

    for one in saved:
        if one.report is not None and not (one.folder / PAGE).is_file():
            write_page(one.report, one.folder, catalog)
    entries = [
        IndexEntry(one.folder.name, _link(one.folder, page.parent), one.written, one.report) for one in saved
    ]
    write_file(page, index_page(entries))


def _link(folder: Path, origin: Path) -> str:
    return Path(os.path.relpath(folder / PAGE, origin)).as_posix()


def _files(root: Path | None) -> list[Path]:
    return [path for folder in roots(root) for path in report_files(folder)]


def report_files(root: Path) -> list[Path]:
    """The report files of the runs and studies in a folder."""
    return [path for name in FILES for path in root.glob(f"[!.]*/{name}")]


def roots(root: Path | None) -> list[Path]:
    """The folders where runs and studies are stored: the given one, or those in ATTNX_HOME."""
    return [root] if root else [home() / "runs", home() / "studies"]


def read_saved(folder: Path) -> Report | StudyReport | None:
    """The report in a folder; None if it cannot be read."""
    if (folder / REPORT).is_file():
        return read_report(folder)
    return read_study(folder)
