"""Every error a user can meet, each one clear line and an exit code.

AttnxError
├── CheckFailed   1  a conformance check found a broken law
├── UsageError    2  the request itself is wrong
├── PluginError   3  a plugin or the registry is broken
└── DataError     4  data is missing, damaged or unusable
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["AttnxError", "CheckFailed", "DataError", "PluginError", "UsageError", "did_you_mean"]


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


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The nearest known name as a question, or nothing."""
    lowered = {other.lower(): other for other in sorted(known)}
    near = get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return f" Did you mean '{lowered[near[0]]}'?" if near else ""
