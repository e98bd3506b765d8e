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
from ..results.overview import Line, line_of
from .runs import UNREADABLE
from .saved_reports import read_saved, report_files, roots

CACHE = ".lines.json"


def list_runs(root: Path | None = None) -> list[tuple[Path, Line]]:
    """The folder and the summary line of every run and study, newest first."""
    found: list[tuple[int, Path, Line]] = []
    for folder in roots(root):
        found += _lines_in(folder)
    return [(path, line) for _, path, line in sorted(found, key=lambda one: one[0], reverse=True)]


def _lines_in(root: Path) -> list[tuple[int, Path, Line]]:
    cached = _read_cache(root)
    fresh: dict[str, dict[str, Any]] = {}
    found: list[tuple[int, Path, Line]] = []
    for file in report_files(root):
        try:
            state = file.stat()
        except FileNotFoundError:  # deleted or replaced by another process just now
            continue
        folder, mark = file.parent, f"{state.st_mtime_ns}-{state.st_size}-{state.st_ino}"
        known = _cached_line(cached.get(folder.name), mark)
        line = known or _line(folder, state.st_mtime)
        found.append((state.st_mtime_ns, folder, line))
        if known:
            fresh[folder.name] = cached[folder.name]
        elif line.kind != "unreadable":  # otherwise it would stay unreadable after it is repaired
            fresh[folder.name] = {"mark": mark, "line": line.to_dict()}
    if fresh != cached:
        _write_cache(root, fresh)
    return found


def _line(folder: Path, written: float) -> Line:
    time = datetime.fromtimestamp(written)
    try:
        report = read_saved(folder)
        if report is not None:
            return line_of(folder.name, time, report)
        reason = UNREADABLE
    except Exception as error:  # one bad report must not hide the others
        reason = "cannot be read: " + f"{type(error).__name__}: {error}".splitlines()[0]
    return Line(folder.name, "unreadable", time, {}, (), {}, {}, (), f"The report {reason}.")


def _cached_line(entry: Any, mark: str) -> Line | None:
    try:
        if entry is None or entry["mark"] != mark:
            return None
        line = entry["line"]
        return Line.from_dict(line)
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
