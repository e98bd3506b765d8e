"""Explanations on a ruler from the worst order found over random to the best, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ...escaping import printable
from ...results.judgement.records import Ranked
from ...results.judgement.wording import GRADE_WORDS, percent

LEFT = -0.5  # the share at the left end; what is below is drawn there
NARROWEST, WIDEST = 10, 36  # columns of the ruler
NUMBERS = 26  # columns of share and interval, with the spaces around them


def print_ruler(ranking: Sequence[Ranked], console: Console) -> None:
    """A line for every explanation: its place between random and best, its interval, grade and cost."""
    ranked = [one for one in ranking if one.share is not None]
    if not ranked:
        return
    names = [printable(one.explanation) for one in ranked]
    width = max(map(len, names))
    grades = max(len(GRADE_WORDS[one.grade]) for one in ranked)
    columns = max(NARROWEST, min(WIDEST, console.width - width - grades - NUMBERS - 3))
    zero = _column(0.0, columns)
    head = " " * zero + "random" + " " * max(1, columns - zero - 6 - 3) + "best"
    console.print(Text(f"{'':{width}}  {head}", style="dim"), no_wrap=True, crop=True)
    for one, name in zip(ranked, names, strict=True):
        line = Text(f"{name:{width}}  ", style="bold" if one.recommended else "")
        line.append(_bar(one, columns))
        interval = f"[{percent(one.low)}, {percent(one.high)}]" if one.low is not None else ""
        line.append(f"  {percent(one.share):>6} {interval:<16} {GRADE_WORDS[one.grade]}")
        console.print(line, no_wrap=True, crop=True)


def _bar(one: Ranked, columns: int) -> str:
    """A ruler with random at its mark, the interval as a line and the share as a dot."""
    cells = ["·"] * (columns + 1)
    cells[_column(0.0, columns)] = "|"
    cells[columns] = "|"
    if one.low is not None and one.high is not None:
        for at in range(_column(one.low, columns), _column(one.high, columns) + 1):
            cells[at] = "─"
    if one.share is not None:
        cells[_column(one.share, columns)] = "●"
    return "".join(cells)


def _column(share: float, columns: int) -> int:
    at = (share - LEFT) / (1 - LEFT)
    return round(columns * min(1.0, max(0.0, at)))
