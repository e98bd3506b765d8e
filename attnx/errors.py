"""Every error a user can meet, each one clear line and an exit code.

AttnxError
├── CheckFailed   1  a conformance check found a broken law
├── UsageError    2  the request itself is wrong
├── PluginError   3  a plugin or the registry is broken
├── DataError     4  data is missing, damaged or unusable
└── MachineError  5  the machine gave out: disk, memory, permissions, a closed output
    └── NotStored   5  all was computed, and could not be stored: it carries what was found

An error that none of these foresees is a fault of attnx itself, and ends with FAULT.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

__all__ = [
    "AttnxError",
    "CheckFailed",
    "DataError",
    "MachineError",
    "NotStored",
    "PluginError",
    "UsageError",
    "did_you_mean",
]

FAULT = 70  # as BSD's sysexits have it


class AttnxError(Exception):
    """Something the user can act on, said in one line."""

    exit_code = 1


class CheckFailed(AttnxError):
    """A component breaks a law it is bound by."""

    exit_code = 1


class UsageError(AttnxError):
    """The request cannot be carried out as it was written."""

    exit_code = 2


class PluginError(AttnxError):
    """A plugin or the registry is broken."""

    exit_code = 3


class DataError(AttnxError):
    """Data is missing, damaged or unusable."""

    exit_code = 4


class MachineError(AttnxError):
    """The machine cannot do what is asked: no space, no memory, no permission."""

    exit_code = 5


class NotStored(MachineError):
    """A report is finished and could not be stored; `report` is the report."""

    def __init__(self, told: str, report: Any) -> None:
        super().__init__(told, report)
        self.report = report

    def __str__(self) -> str:
        return str(self.args[0])


def out_of_memory(error: BaseException) -> bool:
    """Whether this says that something does not fit into memory, in whichever words."""
    text = str(error)
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError | TypeError)  # as torch says it
        and (type(error).__name__ == "OutOfMemoryError" or any(words in text for words in _NO_MEMORY))
    )


_NO_MEMORY = (
    "can't allocate memory",
    "not enough memory",
    "out of memory",
    "Storage size calculation",
    "Overflow when unpacking long",  # a size that no integer of torch can hold
)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The nearest known name as a question, or nothing."""
    lowered = {other.lower(): other for other in sorted(known)}
    near = get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return f" Did you mean '{lowered[near[0]]}'?" if near else ""


def in_one_line(error: BaseException) -> str:
    """An error as a table has room for it."""
    text = str(error) if isinstance(error, AttnxError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:500]
