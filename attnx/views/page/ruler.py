"""Explanations on a ruler from the worst order found over random to the best."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...results.judgement.records import Ranked
    from ...results.report import Report

WIDTH = 100.0  # of the drawing, from the left end to best
ROOM = -0.35  # share; if the left end is nearer to random, there is no room for its name


@dataclass(frozen=True, slots=True)
class RulerLine:
    """One explanation, and where it is on the ruler."""

    one: Ranked
    asked: bool  # the run is about it; the others are ranked to say what to use instead
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Tick:
    """A place of the scale and its name."""

    name: str
    place: float


@dataclass(frozen=True, slots=True)
class Ruler:
    """The explanations of a run, the best first, on a common scale."""

    lines: tuple[RulerLine, ...]
    ticks: tuple[Tick, ...]  # from left to right
    random: float  # where random is
    left: float  # the share at the left end
    removal: str  # how units were removed


def ruler_of(report: Report) -> Ruler | None:
    """The ruler of a report; None where nothing was ranked."""
    verdicts = {v.explanation: v for v in report.verdicts if v.heading == "faithfulness" and v.removals}
    if not verdicts:
        return None
    worst = [v.worst for v in verdicts.values() if v.worst is not None]
    first = next(iter(verdicts.values()))
    return ruler_of_ranking(report.ranking, verdicts, worst, first.removals[0].removal)


def ruler_of_ranking(
    ranking: Sequence[Ranked], asked: Collection[str] = (), worst: Sequence[float] = (), removal: str = ""
) -> Ruler | None:
    """Explanations on a ruler that reaches to the worst order found; None where nothing was ranked."""
    ranked = [one for one in ranking if one.share is not None]
    if not ranked:
        return None
    lows = [one.low for one in ranked if one.low is not None]
    left = min(-0.1, *worst, *lows)

    def place(share: float | None) -> float:
        return WIDTH * (min(1.0, max(left, 0.0 if share is None else share)) - left) / (1 - left)

    marks = {"random": 0.0, "50 %": 0.5, "best": 1.0}
    if left < ROOM:
        marks = {"worst": left, **marks}
    return Ruler(
        tuple(
            RulerLine(one, one.explanation in asked, place(one.share), place(one.low), place(one.high))
            for one in ranked
        ),
        tuple(Tick(name, place(share)) for name, share in marks.items()),
        place(0.0),
        left,
        removal,
    )
