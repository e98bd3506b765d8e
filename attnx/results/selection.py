"""Choosing one row of a report, and what is said where there is none or more than one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .comparison import Difference
    from .report import Summary


class NoSuchRow(KeyError):
    """No row, or more than one, is what was asked for."""

    def __str__(self) -> str:  # a KeyError shows its text quoted and escaped
        return str(self.args[0])


def arguments_of(s: Summary | Difference) -> str:
    """What selects a row."""
    parts = [repr(s.measure), f"metric={s.metric!r}"]
    parts += [f"{key}={value!r}" for key in ("explanation", "reference") if (value := getattr(s, key))]
    return f"select({', '.join(parts)})"
