"""Every error a user can meet, each one clear line and an exit code.

AttnxError
├── CheckFailed   1  a conformance check found a broken law
├── UsageError    2  the request itself is wrong
├── PluginError   3  a plugin or the registry is broken
└── DataError     4  data is missing, damaged or unusable
"""

from __future__ import annotations

__all__ = ["AttnxError", "CheckFailed", "DataError", "PluginError", "UsageError"]


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
