"""Clearing away runs, studies and weights: whole folders, out of sight before they are taken apart."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from ..disk import ABANDONED
from ..errors import UsageError
from ..results.overview import Line
from .home import home
from .weights import CHECKPOINTS, FILE

UNITS = {"h": 1 / 24, "d": 1.0, "w": 7.0}


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """Trained weights that are kept, and the runs that name them."""

    folder: Path
    written: datetime
    size: int  # bytes
    runs: tuple[str, ...]


def parse_age(text: str) -> timedelta:
    """An age as 12h, 30d or 8w; a number alone is days."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([hdw]?)", text.strip())
    if not found:
        raise UsageError(f"'{text}' is no age: give hours, days or weeks, as 12h, 30d or 8w.")
    return timedelta(days=float(found[1]) * UNITS[found[2] or "d"])


def to_prune(
    listed: Collection[tuple[Path, Line]], older_than: timedelta | None, keep: int | None, now: datetime
) -> list[Path]:
    """The folders, of those listed newest first, beyond the `keep` newest and older than asked."""
    if older_than is None and keep is None:
        raise UsageError("Say what to prune: --older-than 30d, --keep 100, or both.")
    beyond = list(listed)[keep or 0 :]
    return [
        folder
        for folder, line in beyond
        if older_than is None or now - datetime.strptime(line.written, "%Y-%m-%d %H:%M") > older_than
    ]


def list_weights(listed: Collection[tuple[Path, Line]], root: Path | None = None) -> list[StoredWeights]:
    """All weights that are kept, newest first, with the runs among those listed that name them."""
    named: dict[str, list[str]] = {}
    for _, line in listed:
        for key in line.weights:
            named.setdefault(key, []).append(line.name)
    found = []
    for file in (root or home() / "weights").glob(f"[!.]*/{FILE}"):
        state = file.stat()
        names = tuple(dict.fromkeys(named.get(file.parent.name, ())))
        found.append(StoredWeights(file.parent, datetime.fromtimestamp(state.st_mtime), state.st_size, names))
    return sorted(found, key=lambda one: one.written, reverse=True)


def old_checkpoints(older_than: timedelta | None, now: datetime, root: Path | None = None) -> list[Path]:
    """The folders of checkpoints that are older, or older than a day: their trainings may still go on."""
    age = timedelta(seconds=ABANDONED) if older_than is None else older_than
    files = ((root or home() / "weights") / CHECKPOINTS).glob(f"[!.]*/{FILE}")
    return sorted(file.parent for file in files if now - datetime.fromtimestamp(file.stat().st_mtime) > age)
