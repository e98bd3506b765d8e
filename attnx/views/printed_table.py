"""A table for print, and its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..results.formatting import Interval


@dataclass(frozen=True, slots=True)
class Share:
    """A number that is shown in percent."""

    value: float | None


@dataclass(frozen=True, slots=True)
class Shares:
    """An interval that is shown in percent."""

    low: float | None
    high: float | None


Cell = str | int | float | None | Interval | Share | Shares


@dataclass(frozen=True, slots=True)
class Table:
    """A table for print; a row of one cell is the heading of those below it."""

    caption: str
    label: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    records: tuple[dict[str, Any], ...]  # the same rows with every number at full precision
