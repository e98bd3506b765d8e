"""The curves of the removal test: what removing or keeping more and more units does to the output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...results.judgement.removal_curves import BEST, RANDOM
from ...results.report import Curve, Report
from ..palette import LIGHT
from .figure import DASHES, FAINT, INK, MARKERS, SERIES, ReportFigure
from .lines import over_seeds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LINES = 7  # explanations between random and best: the asked ones and the best of the others
TITLES: Final = {
    "comprehensiveness": ("Removing the top {units}: how far the output falls", "fall, higher is better"),
    "sufficiency": ("Keeping only the top {units}: how much is lost", "loss, lower is better"),
}


def removal_figures(report: Report) -> list[ReportFigure]:
    """One figure for each question, with random orders and the best order found."""
    curves = [curve for curve in report.curves if curve.kind == "removal"]
    asked = list(dict.fromkeys(v.explanation for v in report.verdicts))
    order = [one.explanation for one in report.ranking]
    few = [*asked, *(name for name in order if name not in asked)][:MOST_LINES]
    names = {name: place for place, name in enumerate(order) if name in few}  # coloured as in other figures
    found = []
    for question, (title, measured) in TITLES.items():
        mine = [curve for curve in curves if curve.name == question]
        if mine:
            seeds = over_seeds([curve for curve in mine if curve.explanation == RANDOM])
            how = "deleted" if mine[0].metric == "delete" else "replaced by those of other texts"
            found.append(
                ReportFigure(
                    f"removal-{question}",
                    title.format(units=f"{report.unit}s"),
                    f"Probability of the prediction, {report.unit}s {how}. Between random orders (grey) and "
                    f"the best order found (black). {seeds}",
                    (5.2, 3.2),
                    partial(_draw, curves=mine, names=names, measured=measured),
                    leading=True,
                )
            )
    return found


def _draw(figure: Figure, curves: Sequence[Curve], names: Mapping[str, int], measured: str) -> None:
    axes = figure.add_subplot()
    _line(axes, curves, BEST, color=INK, ls="-", lw=2)
    for name, place in names.items():
        marker, colour = MARKERS[place % len(MARKERS)], SERIES[place % len(SERIES)]
        _line(axes, curves, name, color=colour, ls=DASHES[place % len(DASHES)], marker=marker, ms=3.5)
    _line(axes, curves, RANDOM, color=LIGHT.faint, ls="-", lw=3)
    axes.set_xlabel(f"{curves[0].axis}, %")
    axes.set_ylabel(measured)
    axes.grid(color=FAINT, alpha=0.25, lw=0.6)
    box = axes.get_position()
    axes.set_position((box.x0, box.y0, 0.68 * box.width, box.height))
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _line(axes: Axes, curves: Sequence[Curve], name: str, **style: Any) -> None:
    mine = [curve for curve in curves if curve.explanation == name]
    if mine:
        y = np.array([curve.y for curve in mine], dtype=float)  # [S, T]
        axes.plot(mine[0].x, np.nanmean(y, axis=0), label=name[:24], **style)
