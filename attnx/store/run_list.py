"""All runs and studies in brief, quick with thousands: what was read once is noted beside them.

The note is only that. Every line in it holds for one state of one file, by time and size; a note that is
missing, damaged or of another version is written anew.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..disk import write_file
from ..results.overview import Line, line_of
from .saved_reports import read_saved, report_files, roots

NOTE = ".lines.json"


def lines(root: Path | None = None) -> list[tuple[Path, Line]]:
    """The folder and the line of every run and study, newest first."""
    found: list[tuple[int, Path, Line]] = []
    for folder in roots(root):
        found += _lines_in(folder)
    return [(path, line) for _, path, line in sorted(found, key=lambda one: one[0], reverse=True)]


def _lines_in(root: Path) -> list[tuple[int, Path, Line]]:
    noted = _read_note(root)
    fresh: dict[str, dict[str, Any]] = {}
    found: list[tuple[int, Path, Line]] = []
    for file in report_files(root):
        try:
            state = file.stat()
        except FileNotFoundError:  # removed, or replaced by a writer, just now
            continue
        folder, mark = file.parent, f"{state.st_mtime_ns}-{state.st_size}-{state.st_ino}"
        known = _noted(noted.get(folder.name), mark)
        line = known or _line(folder, state.st_mtime)
        found.append((state.st_mtime_ns, folder, line))
        if known:
            fresh[folder.name] = noted[folder.name]
        elif line.kind != "unreadable":  # or it would stay so when it is mended
            fresh[folder.name] = {"mark": mark, "line": asdict(line)}
    if fresh != noted:
        _write_note(root, fresh)
    return found


def _line(folder: Path, written: float) -> Line:
    day = datetime.fromtimestamp(written).strftime("%Y-%m-%d %H:%M")
    try:
        report = read_saved(folder)
        if report is not None:
            return line_of(folder.name, day, report)
        reason = "damaged, edited, or of another version of attnx"
    except Exception as error:  # whatever is odd about one report, the others are listed
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
    return Line(folder.name, "unreadable", day, {}, (), {}, {}, (), f"cannot be read: {reason}")


def _noted(noted: Any, mark: str) -> Line | None:
    try:
        if noted is None or noted["mark"] != mark:
            return None
        line = noted["line"]
        return Line(**{**line, "seeds": tuple(line["seeds"]), "weights": tuple(line["weights"])})
    except (KeyError, TypeError):
        return None


def _read_note(root: Path) -> dict[str, Any]:
    try:
        kept = json.loads((root / NOTE).read_text(encoding="utf-8"))
        return dict(kept["lines"]) if kept["version"] == version("attnx") else {}
    except (OSError, KeyError, TypeError, ValueError):
        return {}


def _write_note(root: Path, fresh: dict[str, Any]) -> None:
    with suppress(OSError):  # a folder that is only read is listed all the same, more slowly
        write_file(root / NOTE, json.dumps({"version": version("attnx"), "lines": fresh}))
