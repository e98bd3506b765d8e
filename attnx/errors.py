"""Every error a user can meet, each one clear line and an exit code.

AttnxError
├── CheckFailed   1  a conformance test failed
├── UsageError    2  the request itself is wrong
├── PluginError   3  a plugin or the registry is broken
├── DataError     4  data is missing, damaged or unusable
└── MachineError  5  disk full, out of memory, no permission, closed output
    └── NotStored   5  the results were computed but could not be saved: it carries them

Any other exception is a bug in attnx; the command line then exits with FAULT (70).
AttnxWarning reports something that does not stop the work.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

__all__ = [
    "AttnxError",
    "AttnxWarning",
    "CheckFailed",
    "DataError",
    "MachineError",
    "NotStored",
    "PluginError",
    "UsageError",
    "did_you_mean",
    "did_you_mean_path",
]

FAULT = 70  # as BSD's sysexits have it


class AttnxError(Exception):
    """An error that the user can act on; its message is one line."""

    exit_code = 1


class CheckFailed(AttnxError):
    """A component fails a conformance test."""

    exit_code = 1


class UsageError(AttnxError):
    """The request is wrong: an unknown name, a bad option, or parts that do not fit together."""

    exit_code = 2


class PluginError(AttnxError):
    """A plugin or the registry is broken."""

    exit_code = 3


class DataError(AttnxError):
    """Data is missing, damaged or unusable."""

    exit_code = 4


class MachineError(AttnxError):
    """The machine cannot do what was requested: no disk space, no memory, no permission."""

    exit_code = 5


class NotStored(MachineError):
    """A finished report could not be saved; `report` holds it."""

    def __init__(self, message: str, report: Any) -> None:
        super().__init__(message, report)
        self.report = report

    def __str__(self) -> str:
        return str(self.args[0])


class AttnxWarning(UserWarning):
    """Something the user should know while the work goes on; the command line shows it as one line."""


def out_of_memory(error: BaseException) -> bool:
    """Whether an exception means that memory ran out, however the library phrases it."""
    text = str(error)
    if isinstance(error, OSError | ImportError):
        return getattr(error, "errno", None) == errno.ENOMEM or any(words in text for words in _NO_ROOM)
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError | TypeError)  # what torch raises
        and (type(error).__name__ == "OutOfMemoryError" or any(words in text for words in _NO_MEMORY))
    )


# Said of a library that could not be loaded.
_NO_ROOM = ("Cannot allocate memory", "failed to map segment", "cannot allocate memory")
_NO_MEMORY = (
    "can't allocate memory",
    "not enough memory",
    "out of memory",
    "Storage size calculation",
    "Overflow when unpacking long",  # a size that no integer of torch can hold
)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest the nearest known name, for the end of an error message.

    Args:
        name: the name that was given.
        known: the names that exist.

    Returns:
        " Did you mean 'NAME'?", or an empty text if no name is near.
    """
    lowered = {other.lower(): other for other in sorted(known)}
    near = get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return f" Did you mean '{lowered[near[0]]}'?" if near else ""


def did_you_mean_path(path: str | Path, *, folder: bool = False) -> str:
    """Suggest the nearest existing path, for the end of an error message.

    Every part of the path that does not exist is replaced by the nearest name in its folder.

    Args:
        path: the path that was given.
        folder: whether a folder is wanted; otherwise a file is suggested.

    Returns:
        " Did you mean 'PATH'?", or an empty text if the path exists or no path is near.
    """
    given = Path(path)
    parts, found = given.parts, Path()
    for place, part in enumerate(parts, start=1):
        if not os.path.exists(found / part):
            part = _nearest_entry(found, part, folders=folder or place < len(parts))
            if not part:
                return ""
        found /= part
    right = os.path.isdir(found) if folder else os.path.isfile(found)
    return f" Did you mean '{found}'?" if right and found != given else ""


def _nearest_entry(folder: Path, name: str, *, folders: bool) -> str:
    """The nearest name of a file, or of a folder, in a folder; empty if there is none."""
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in islice(entries, _MOST_ENTRIES) if e.is_dir() == folders]
    except OSError:  # a folder that may not be read: a suggestion can be left out
        return ""
    lowered = {other.lower(): other for other in sorted(names) if not other.startswith(".")}
    stem = Path(name).stem.lower()
    for near in get_close_matches(name.lower(), lowered, n=10, cutoff=0.6):
        if get_close_matches(stem, [Path(near).stem], cutoff=0.6):  # an equal ending alone is not near
            return lowered[near]
    return ""


_MOST_ENTRIES = 5000  # of a folder; comparing more names would take longer than a second


def in_one_line(error: BaseException) -> str:
    """An error as one line of at most 500 characters, for a table cell."""
    text = str(error) if isinstance(error, AttnxError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:500]
