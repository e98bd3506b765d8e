"""A mean on a line with its interval and the numbers to compare it with, as a strip in a table's row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...results.report import Summary
from ...results.study import StudyRow

MARGIN = 0.04  # left free at both ends of a strip


@dataclass(frozen=True, slots=True)
class Scale:
    """The ends of the line that all strips of one measure share."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """The position of a value, in percent of the strip."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * (MARGIN + (1 - 2 * MARGIN) * share), 2)


@dataclass(frozen=True, slots=True)
class Strip:
    """Places on a strip, in percent."""

    mean: float
    low: float | None
    high: float | None
    zero: float | None
    marks: tuple[tuple[str, float | None], ...]  # baselines, or what was published; None: no value


def scale_of(rows: Sequence[Summary] | Sequence[StudyRow]) -> Scale | None:
    """A line on which all these rows fit; None where they are all the same number."""
    values = [value for row in rows for value in (row.mean, row.low, row.high, *_marked(row).values())]
    known = [0.0, *(value for value in values if value is not None)]
    return Scale(min(known), max(known)) if min(known) < max(known) else None


def strip_of(row: Summary | StudyRow, scale: Scale | None) -> Strip | None:
    """The positions of a row's numbers on its scale."""
    if scale is None or row.mean is None:
        return None
    return Strip(
        mean=scale.place(row.mean),
        low=None if row.low is None else scale.place(row.low),
        high=None if row.high is None else scale.place(row.high),
        zero=scale.place(0) if scale.low <= 0 <= scale.high else None,
        marks=tuple(
            (name, None if value is None else scale.place(value)) for name, value in _marked(row).items()
        ),
    )


def _marked(row: Summary | StudyRow) -> dict[str, float | None]:
    """The numbers that a row is compared with, by name, in the order of the legend."""
    return dict(sorted(row.baselines.items())) if isinstance(row, Summary) else {"published": row.published}
