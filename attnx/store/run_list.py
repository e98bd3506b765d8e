"""Lists all runs and studies in brief; a cache file in their folder keeps this fast for thousands of them.

A cached line is valid for one content of a report and its seal, which are hashed for every list. The cache
has a checksum of its own. Whatever does not fit is read again from the reports, and what is to be deleted is
never chosen from the cache.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..disk import write_file
from ..results.overview import StoredRun, in_brief
from .runs import UNREADABLE
from .saved_reports import read_saved, report_files, roots
from .seals import SEAL

CACHE = ".lines.json"


def list_runs(root: Path | None = None, *, cached: bool = True) -> list[StoredRun]:
    """Every run and study in brief, newest first.

    Args:
        root: the folder of runs or studies; by default those in ATTNX_HOME.
        cached: use the cache of earlier lists. Without it every report is read, as is needed to delete.
    """
    found: list[tuple[int, StoredRun]] = []
    for folder in roots(root):
        found += _lines_in(folder, _read_cache(folder) if cached else {})
    return [line for _, line in sorted(found, key=lambda one: one[0], reverse=True)]


def _lines_in(root: Path, cached: dict[str, Any]) -> list[tuple[int, StoredRun]]:
    fresh: dict[str, dict[str, Any]] = {}
    found: list[tuple[int, StoredRun]] = []
    for file in report_files(root):
        folder = file.parent
        try:
            state = file.stat()
            content = _content(file)
        except FileNotFoundError:  # deleted or replaced by another process just now
            continue
        mark = f"{state.st_mtime_ns}-{content}"
        known = _cached_line(cached.get(folder.name), mark, folder) if content else None
        line = known or _line(folder, state.st_mtime)
        found.append((state.st_mtime_ns, line))
        if known:
            fresh[folder.name] = cached[folder.name]
        elif content and line.kind != "unreadable":  # otherwise it would stay unreadable after it is repaired
            fresh[folder.name] = {"mark": mark, "line": line.to_dict()}
    if fresh != cached:
        _write_cache(root, fresh)
    return found


def _content(report: Path) -> str:
    """A hash of a report and its seal; empty if one of them cannot be read. FileNotFoundError: no report."""
    try:
        return hashlib.sha256(report.read_bytes() + (report.parent / SEAL).read_bytes()).hexdigest()
    except FileNotFoundError:
        report.stat()
        return ""
    except OSError:
        return ""


def _line(folder: Path, written: float) -> StoredRun:
    time = datetime.fromtimestamp(int(written))  # to the second, as the cache has it
    try:
        report = read_saved(folder)
        if report is not None:
            return in_brief(folder, time, report)
        reason = UNREADABLE
    except Exception as error:  # one bad report must not hide the others
        reason = "cannot be read: " + f"{type(error).__name__}: {error}".splitlines()[0]
    return StoredRun(folder.name, "unreadable", time, {}, (), {}, {}, (), folder, f"The report {reason}.")


def _cached_line(entry: Any, mark: str, folder: Path) -> StoredRun | None:
    """The line of a report with this mark; None if the cache has none, or something else in its place."""
    try:
        if entry is None or entry["mark"] != mark:
            return None
        line = StoredRun.from_dict({**entry["line"], "folder": folder})  # all of it may have been moved
    except (KeyError, TypeError, ValueError):
        return None
    return line if line.name == folder.name and line.kind != "unreadable" else None


def _read_cache(root: Path) -> dict[str, Any]:
    try:
        stored = json.loads((root / CACHE).read_text(encoding="utf-8"))
        if stored["version"] != version("attnx") or stored["sha256"] != _checksum(stored["lines"]):
            return {}
        return dict(json.loads(stored["lines"]))
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {}


def _write_cache(root: Path, fresh: dict[str, Any]) -> None:
    lines = json.dumps(fresh)
    text = json.dumps({"version": version("attnx"), "sha256": _checksum(lines), "lines": lines})
    with suppress(OSError):  # a read-only folder is listed too, only more slowly
        write_file(root / CACHE, text)


def _checksum(lines: str) -> str:
    return hashlib.sha256(lines.encode()).hexdigest()
