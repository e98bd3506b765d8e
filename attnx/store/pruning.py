"""Chooses which stored runs, studies, weights and checkpoints to delete."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from ..disk import ABANDONED
from ..errors import AttnxWarning, UsageError
from ..results.overview import StoredRun, StoredWeights
from .home import home
from .weights import CHECKPOINTS, FILE

UNITS = {"h": 1 / 24, "d": 1.0, "w": 7.0}


def read_age(text: str | timedelta) -> timedelta:
    """Read an age, e.g. 12h, 30d or 8w; a number without a unit means days."""
    if isinstance(text, timedelta):
        return text
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([hdw]?)", text.strip())
    if not found:
        raise UsageError(f"'{text}' is not an age. Write hours, days or weeks, e.g. 12h, 30d or 8w.")
    return timedelta(days=float(found[1]) * UNITS[found[2] or "d"])


def to_prune(
    listed: Sequence[StoredRun], older_than: timedelta | None, keep: int | None, now: datetime
) -> list[Path]:
    """The folders to delete: not among the `keep` newest, and older than `older_than`."""
    if older_than is None and keep is None:
        raise UsageError("Specify what to delete: --older-than 30d, --keep 100, or both.")
    beyond = listed[keep or 0 :]
    return [run.folder for run in beyond if older_than is None or now - run.written > older_than]


def list_weights(listed: Collection[StoredRun], root: Path | None = None) -> list[StoredWeights]:
    """All stored weights, newest first, with the listed runs that use them."""
    used_by: dict[str, list[str]] = {}
    for run in listed:
        for key in run.weights:
            used_by.setdefault(key, []).append(run.name)
    found = []
    for file in (root or home() / "weights").glob(f"[!.]*/{FILE}"):
        state = file.stat()
        names = tuple(dict.fromkeys(used_by.get(file.parent.name, ())))
        found.append(StoredWeights(file.parent, datetime.fromtimestamp(state.st_mtime), state.st_size, names))
    return sorted(found, key=lambda one: one.written, reverse=True)


def old_checkpoints(older_than: timedelta | None, now: datetime, root: Path | None = None) -> list[Path]:
    """The folders of checkpoints older than this age, by default a day: training may still go on."""
    age = timedelta(seconds=ABANDONED) if older_than is None else older_than
    files = ((root or home() / "weights") / CHECKPOINTS).glob(f"[!.]*/{FILE}")
    return sorted(file.parent for file in files if now - datetime.fromtimestamp(file.stat().st_mtime) > age)


def choose_weights(
    listed: Sequence[StoredRun], age: timedelta, *, unused: bool = False
) -> tuple[StoredWeights, ...]:
    """The weights of at least this age, or only those that no readable run uses, with a warning."""
    now = datetime.now()
    found = tuple(one for one in list_weights(listed) if now - one.written >= age)
    if not unused:
        return found
    if unreadable := sum(run.kind == "unreadable" for run in listed):
        text = f"{unreadable} stored reports cannot be read; weights that only they use are deleted."
        warnings.warn(text, AttnxWarning, stacklevel=3)
    return tuple(one for one in found if not one.runs)
