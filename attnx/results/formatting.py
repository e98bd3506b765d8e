"""How tables and sentences show numbers, intervals, durations and the names of measures."""

from __future__ import annotations

import math
from typing import Annotated, Any, Final, NamedTuple

from pydantic import BeforeValidator

from ..progress import span


def format_number(value: float | None) -> str:
    """A number as tables show it: three decimals, or three significant digits where those say little."""
    if value is None:
        return "–"
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.01 else f"{value:.3g}"


def _number(value: Any) -> float | None:
    """JSON has no NaN: an undefined number is null."""
    return None if value is None or math.isnan(value) else float(value)


Number = Annotated[float | None, BeforeValidator(_number)]


class Interval(NamedTuple):
    """The ends of a 95 % interval, as numbers; printed, as tables show them."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{format_number(self.low)}, {format_number(self.high)}]"


def interval_of(low: float | None, high: float | None) -> Interval | None:
    """Make an interval of two ends; None if one is missing."""
    return None if low is None or high is None else Interval(low, high)


def duration(seconds: float) -> str:
    """A length of time as people say it: seconds below two minutes, minutes below two hours, then hours."""
    return span(seconds)


ARROWS: Final = {"up": "↑", "down": "↓", "none": ""}


def measure_name(metric: str, measure: str) -> str:
    """Metric and measure, said once where a metric has one measure of its own name."""
    return metric if measure == metric else f"{metric} {measure}"


def with_arrow(name: str, direction: str) -> str:
    """A name with an arrow to the better side, where there is one."""
    return f"{name} {ARROWS[direction]}".rstrip()
