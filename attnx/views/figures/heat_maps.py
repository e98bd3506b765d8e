"""Heat maps of a sweep: one measure over its cells, darker for higher values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ...results.formatting import format_number
from ...results.judgement.wording import percent
from ...results.sweep import SweepReport, SweepRow, Value
from .figure import INK, SERIES, ReportFigure, slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS, MOST_COLUMNS = 60, 20  # more cannot be read; the table has all of them
MOST_LETTERS = 44
SHARE = "share, from random to best ↑"
DEEPEST = 0.62  # of the colour, so that the number on it can be read
LETTER = 0.066  # inches
TILE = 0.75, 0.3  # inches


@dataclass(frozen=True, slots=True)
class _Map:
    """The values of one measure by row and column."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    tiles: dict[tuple[str, str], Value]


def heat_maps(report: SweepReport) -> list[ReportFigure]:
    """Heat maps of the share, accuracy and every measure, where cells differ and fit; the first one leads."""
    axes = [*report.varying, *(["explanation"] if len({row.explanation for row in report.rows}) > 1 else [])]
    if not axes:
        return []
    across = max(axes, key=lambda axis: len({getattr(row, axis) for row in report.rows}))
    down = [axis for axis in axes if axis != across]
    maps = {SHARE: _laid_out(report, _share, across, down)}
    if report.varying:  # accuracy does not depend on the explanation
        without = [axis for axis in down if axis != "explanation"]
        column = None if across == "explanation" else across
        maps["accuracy ↑"] = _laid_out(report, _accuracy, column, without)
    for name, title in report.measures.items():
        maps[title] = _laid_out(report, partial(_measured, name), across, down)
    readable = [(title, one) for title, one in maps.items() if _readable(one)]
    return [_drawing(title, one, across, leading=not at) for at, (title, one) in enumerate(readable)]


def _laid_out(
    report: SweepReport, value_of: Callable[[SweepRow], Value | None], across: str | None, down: Sequence[str]
) -> _Map:
    """The tiles of a measure; without `across`, in one column."""
    tiles = {}
    for row in report.rows:
        value = value_of(row)
        if value is not None:
            names = [_name(report, row, axis) for axis in down]
            tiles[" · ".join(names), _name(report, row, across) if across else ""] = value
    return _Map(tuple(dict.fromkeys(r for r, _ in tiles)), tuple(dict.fromkeys(c for _, c in tiles)), tiles)


def _name(report: SweepReport, row: SweepRow, axis: str) -> str:
    return row.explanation if axis == "explanation" else report.short(row, axis)


def _measured(name: str, row: SweepRow) -> Value | None:
    return row.values.get(name)


def _accuracy(row: SweepRow) -> Value:
    return Value(mean=row.accuracy, low=None, high=None, random=None, direction="up")


def _share(row: SweepRow) -> Value | None:
    """From random, which is 0, to the best order found."""
    if row.share is None:
        return None
    return Value(mean=row.share, low=row.share_low, high=row.share_high, random=0.0, direction="up")


def _readable(one: _Map) -> bool:
    return len(one.tiles) > 1 and len(one.rows) <= MOST_ROWS and len(one.columns) <= MOST_COLUMNS


def _drawing(title: str, one: _Map, across: str, *, leading: bool) -> ReportFigure:
    left = 0.3 + LETTER * max(len(_short(name)) for name in one.rows)
    width, height = TILE[0] * len(one.columns), TILE[1] * len(one.rows)
    chance = any(_like_random(value) for value in one.tiles.values())
    return ReportFigure(
        f"heat-map-{slug(title)}",
        title,
        f"By {across}. A stronger colour means a higher value; each heat map has its own scale."
        + (" ≈: the interval includes the random baseline." if chance else ""),
        (left + width + 0.15, height + 0.25 + _room_below(one.columns)),
        partial(_draw, one=one, shown=percent if title == SHARE else format_number),
        leading=leading,
        left=left,
    )


def _room_below(columns: Sequence[str]) -> float:
    """Inches for the names of columns, which are slanted where they are long."""
    longest = max(len(_short(name)) for name in columns)
    return 0.3 if LETTER * longest < TILE[0] else 0.3 + 0.6 * LETTER * longest


def _draw(figure: Figure, one: _Map, shown: Callable[[float | None], str]) -> None:
    from matplotlib.patches import Rectangle

    below = _room_below(one.columns)
    figure.subplots_adjust(bottom=below / figure.get_figheight())
    axes = figure.add_subplot()
    known = [value.mean for value in one.tiles.values() if value.mean is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    for (row, column), value in one.tiles.items():
        x, y = one.columns.index(column), one.rows.index(row)
        depth = DEEPEST * ((value.mean or 0.0) - low) / (high - low) if high > low else DEEPEST / 2
        if value.mean is not None:
            tile = Rectangle((x, y), 1, 1, facecolor=SERIES[0], alpha=depth, linewidth=0)
            axes.add_patch(tile)
        said = shown(value.mean) + (" ≈" if _like_random(value) else "")
        axes.text(x + 0.5, y + 0.5, said, ha="center", va="center", color=INK, fontsize=8)
    slanted = below > 0.3
    axes.set_xlim(0, len(one.columns))
    axes.set_ylim(len(one.rows), 0)
    axes.set_xticks(
        [x + 0.5 for x in range(len(one.columns))],
        [_short(name) for name in one.columns],
        rotation=35 if slanted else 0,
        ha="right" if slanted else "center",
        rotation_mode="anchor" if slanted else "default",
    )
    axes.set_yticks([y + 0.5 for y in range(len(one.rows))], [_short(name) for name in one.rows])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _like_random(value: Value) -> bool:
    """Whether the interval of a measure includes the random baseline."""
    if value.random is None or value.low is None or value.high is None:
        return False
    return value.low <= value.random <= value.high


def _short(name: str) -> str:
    """A long name without its middle: names differ at their ends."""
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS // 2]}…{name[-MOST_LETTERS // 2 :]}"
