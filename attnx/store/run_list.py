"""Lists all runs and studies in brief; a cache file in their folder keeps this fast for thousands of them.

Each cached line is valid for one state (time, size, inode) of one report file. A cache file that is missing,
damaged or from another version is written again.
"""

from __future__ import annotations

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

CACHE = ".lines.json"


def list_runs(root: Path | None = None) -> list[StoredRun]:
    """Every run and study in brief, newest first."""
    found: list[tuple[int, StoredRun]] = []
    for folder in roots(root):
        found += _lines_in(folder)
    return [line for _, line in sorted(found, key=lambda one: one[0], reverse=True)]


def _lines_in(root: Path) -> list[tuple[int, StoredRun]]:
    cached = _read_cache(root)
    fresh: dict[str, dict[str, Any]] = {}
    found: list[tuple[int, StoredRun]] = []
    for file in report_files(root):
        try:
            state = file.stat()
        except FileNotFoundError:  # deleted or replaced by another process just now
            continue
        folder, mark = file.parent, f"{state.st_mtime_ns}-{state.st_size}-{state.st_ino}"
        known = _cached_line(cached.get(folder.name), mark, folder)
        line = known or _line(folder, state.st_mtime)
        found.append((state.st_mtime_ns, line))
        if known:
            fresh[folder.name] = cached[folder.name]
        elif line.kind != "unreadable":  # otherwise it would stay unreadable after it is repaired
            fresh[folder.name] = {"mark": mark, "line": line.to_dict()}
    if fresh != cached:
        _write_cache(root, fresh)
    return found


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
    try:
        if entry is None or entry["mark"] != mark:
            return None
        return StoredRun.from_dict({**entry["line"], "folder": folder})  # all of it may have been moved
    except (KeyError, TypeError, ValueError):
        return None


def _read_cache(root: Path) -> dict[str, Any]:
    try:
        stored = json.loads((root / CACHE).read_text(encoding="utf-8"))
        return dict(stored["lines"]) if stored["version"] == version("attnx") else {}
    except (OSError, KeyError, TypeError, ValueError):
        return {}


def _write_cache(root: Path, fresh: dict[str, Any]) -> None:
    with suppress(OSError):  # a read-only folder is listed too, only more slowly
        write_file(root / CACHE, json.dumps({"version": version("attnx"), "lines": fresh}))
