"""How alike the methods of a run rank the units of an example, as a matrix."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...results.examples import Examples
from .figure import INK, SERIES, ReportFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray[Any, np.dtype[np.float64]]

MOST_EXAMPLES = 300  # evenly spread: more change the means by less than is shown
MOST_METHODS = 14
FEWEST_UNITS = 3
DEEPEST = 0.62  # of the colour, so that the number on it can be read
LETTER = 0.066  # inches
TILE = 0.42  # inches


def agreement_figures(examples: Examples) -> list[ReportFigure]:
    """The matrix of the methods whose scores are kept; none for fewer than three."""
    names = list(examples.methods)[:MOST_METHODS]
    if len(names) < 3 or int((examples.lengths >= FEWEST_UNITS).sum()) == 0:
        return []
    left = 0.3 + LETTER * max(map(len, names))
    below = 0.3 + 0.6 * LETTER * max(map(len, names))
    side = TILE * len(names)
    return [
        ReportFigure(
            "agreement",
            "How alike the methods rank",
            "Mean rank correlation (Spearman's ρ) of the scores of two methods within an example. 1: the "
            "same order, 0: unrelated, −1: reversed. Orange: alike; blue: reversed.",
            (left + side + 0.2, 0.3 + side + below),
            partial(_draw, names=names, values=agreement(examples, names), below=below),
            leading=True,
            left=left,
        )
    ]


def agreement(examples: Examples, names: list[str]) -> Array:
    """[M, M] the mean over examples and seeds of Spearman's ρ; NaN where it is nowhere defined."""
    starts = np.concatenate([[0], np.cumsum(examples.lengths)]).astype(int)
    usable = np.flatnonzero(examples.lengths >= FEWEST_UNITS)
    rows = usable[np.unique(np.linspace(0, len(usable) - 1, MOST_EXAMPLES).round().astype(int))]
    found = []
    for seed in range(len(examples.seeds)):
        for row in rows:
            units = slice(starts[row], starts[row + 1])
            scores = np.stack([examples.scores[name].shares[seed, units].astype(float) for name in names])
            ranks = _average_ranks(scores)  # [M, L]
            ranks -= ranks.mean(1, keepdims=True)
            size = np.sqrt((ranks**2).sum(1))  # 0 where all scores are equal: no order, no correlation
            size[(size == 0) | ~np.isfinite(scores).all(1)] = np.nan
            found.append((ranks @ ranks.T) / (size[:, None] * size[None]))
    stacked = np.stack(found)
    known = ~np.isnan(stacked)
    count = known.sum(0)
    return np.where(count > 0, np.where(known, stacked, 0.0).sum(0) / np.maximum(1, count), np.nan)


def _average_ranks(scores: Array) -> Array:
    """[M, L] the rank of every score within its method; equal scores share their mean rank."""
    one, other = scores[:, :, None], scores[:, None, :]
    return 0.5 * ((one > other).sum(2) + (one >= other).sum(2) + 1)


def _draw(figure: Figure, names: list[str], values: Array, below: float) -> None:
    from matplotlib.patches import Rectangle

    figure.subplots_adjust(bottom=below / figure.get_figheight())
    axes = figure.add_subplot()
    for y, x in np.ndindex(values.shape):
        value = float(values[y, x])
        if np.isnan(value):
            continue
        colour = SERIES[1] if value >= 0 else SERIES[0]
        axes.add_patch(
            Rectangle((x, y), 1, 1, facecolor=colour, alpha=DEEPEST * min(1.0, abs(value)), linewidth=0)
        )
        said = f"{round(value, 2) + 0.0:.2f}".replace("-", "−")  # never −0.00
        axes.text(x + 0.5, y + 0.5, said, ha="center", va="center", color=INK, fontsize=7.5)
    axes.set_xlim(0, len(names))
    axes.set_ylim(len(names), 0)
    places = [at + 0.5 for at in range(len(names))]
    axes.set_xticks(places, names, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(places, names)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
