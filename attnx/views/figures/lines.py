"""Lines over seeds: the mean, the band between seeds, axes and their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...results.report import Curve
from .figure import DASHES, FAINT, MARKERS, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 6  # lines that have a band each, and room for their names among them


def draw_lines(axes: Axes, lines: Mapping[str, Sequence[Curve]]) -> None:
    """A line for every name; with many lines the legend stands outside the axes."""
    for place, (name, same) in enumerate(lines.items()):
        _line(axes, same, name, place, band=len(lines) <= FEW)
    if len(lines) > FEW:
        box = axes.get_position()
        axes.set_position((box.x0, box.y0, 0.78 * box.width, box.height))
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    elif len(lines) > 1:
        axes.legend()


def _line(axes: Axes, curves: Sequence[Curve], name: str, place: int, *, band: bool) -> None:
    """The mean over seeds, and the band between the lowest and the highest."""
    x = np.array(sorted({x for curve in curves for x in curve.x}))  # [P]: a seed may have stopped early
    y = np.full((len(curves), len(x)), np.nan)  # [S, P], NaN where there is none
    for seed, curve in enumerate(curves):
        y[seed, np.searchsorted(x, curve.x)] = np.array(curve.y, dtype=float)
    known = ~np.isnan(y).all(0)
    x, y = x[known], y[:, known]
    colour = SERIES[place % len(SERIES)]
    marker = MARKERS[place % len(MARKERS)] if len(x) <= 25 else None
    mean = np.nanmean(y, axis=0) if len(x) else x
    dash = DASHES[(place + place // len(SERIES)) % len(DASHES)]  # a colour comes again with another dash
    axes.plot(x, mean, color=colour, linestyle=dash, marker=marker, ms=3.5, label=name)
    if band and len(curves) > 1 and len(x):
        axes.fill_between(x, np.nanmin(y, 0), np.nanmax(y, 0), color=colour, alpha=0.18, linewidth=0)


def label(axes: Axes, x: str, y: str) -> None:
    """Name the axes and draw a grid."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(color=FAINT, alpha=0.25, lw=0.6)
    axes.ticklabel_format(axis="y", scilimits=(-2, 4))  # short enough for the space next to the axes
    if x in ("epoch", "rank"):
        axes.locator_params(axis="x", integer=True)


def over_seeds(curves: Sequence[Curve]) -> str:
    """What a caption says about seeds."""
    seeds = len({curve.seed for curve in curves})
    if seeds == 1:
        return "Means over the examples, one seed."
    band = "; the band spans the lowest to the highest seed"
    return f"Each line is the mean over {seeds} seeds{band * (_lines(curves) <= FEW)}."


def _lines(curves: Sequence[Curve]) -> int:
    return len({(curve.explanation, curve.name) for curve in curves})
