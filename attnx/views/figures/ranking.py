"""Explanations between random and best as figures: the ruler, and what a share costs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from ...results.judgement.records import Ranked
from ...results.judgement.wording import percent
from ...results.report import Report
from ..palette import LIGHT, tone
from .figure import FAINT, INK, MARKERS, SERIES, ReportFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LETTER = 0.066  # inches
ROW = 0.27  # inches


def ranking_figures(report: Report) -> list[ReportFigure]:
    """The ruler and the cost against the share; none where nothing was ranked."""
    ranked = [one for one in report.ranking if one.share is not None]
    if not ranked:
        return []
    asked = {v.explanation for v in report.verdicts}
    left = 0.3 + LETTER * max(len(one.explanation) for one in ranked)
    found = [
        ReportFigure(
            "ruler",
            "How faithful each explanation is",
            f"Share of the way from random {report.unit}s (0 %) to the best order found (100 %), with its "
            "95 % interval. Bold: what the run is about.",
            (left + 4.2, 0.8 + ROW * len(ranked)),
            partial(_draw_ruler, ranked=ranked, asked=asked),
            leading=True,
            left=left,
        )
    ]
    costed = [one for one in ranked if one.passes is not None]
    if len(costed) > 1:
        found.append(
            ReportFigure(
                "cost",
                "Share and cost",
                f"Share of the way from random {report.unit}s to the best order found, with its 95 % "
                "interval, by the inputs that the model must process to explain one example.",
                (5.2, 3.2),
                partial(_draw_cost, ranked=costed),
                leading=True,
            )
        )
    return found


def _draw_ruler(figure: Figure, ranked: Sequence[Ranked], asked: set[str]) -> None:
    axes = figure.add_subplot()
    for place, one in enumerate(ranked):
        colour = getattr(LIGHT, tone(one.grade))
        share = one.share or 0.0
        axes.barh(place, share, height=0.45, color=colour, alpha=0.3, linewidth=0)
        if one.low is not None and one.high is not None:
            axes.plot((one.low, one.high), (place, place), color=colour, lw=1.5)
        axes.plot(share, place, "o", color=colour, ms=5.5, zorder=4)
        axes.annotate(
            percent(one.share),
            (max(share, one.high or 0.0, 0.0), place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=INK,
        )
    axes.axvline(0, color=INK, lw=1)
    axes.axvline(1, color=FAINT, lw=0.8, ls="--")
    axes.set_yticks(range(len(ranked)), [one.explanation for one in ranked])
    for name, one in zip(axes.get_yticklabels(), ranked, strict=True):
        name.set_fontweight("bold" if one.explanation in asked else "normal")
    axes.invert_yaxis()
    lows = [one.low for one in ranked if one.low is not None]
    axes.set_xlim(min(-0.08, *lows) - 0.02, 1.16)
    ticks = (-1, -0.5, 0, 0.5, 1)
    axes.set_xticks(ticks, [percent(t) if t else "random" for t in ticks[:-1]] + ["best"])
    axes.set_xlim(min(-0.08, *lows) - 0.02, 1.16)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _draw_cost(figure: Figure, ranked: Sequence[Ranked]) -> None:
    from matplotlib.ticker import NullLocator

    axes = figure.add_subplot()
    for place, one in enumerate(ranked):
        colour, marker = SERIES[place % len(SERIES)], MARKERS[place % len(MARKERS)]
        share, passes = 100 * (one.share or 0.0), one.passes or 0.0
        known = one.low is not None and one.high is not None
        ends = [[share - 100 * (one.low or 0.0)], [100 * (one.high or 0.0) - share]] if known else None
        axes.errorbar(
            [passes], [share], yerr=ends, fmt=marker, color=colour, capsize=2, label=one.explanation[:24]
        )
    axes.axhline(0, color=FAINT, ls="--", lw=1)
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(-0.2, 1.3 * max(1.0, *(one.passes or 0.0 for one in ranked)))
    counts = sorted({round(one.passes or 0.0) for one in ranked})
    shown = [counts[0], *(b for a, b in pairwise(counts) if b > 1.5 * max(a, 0.6))]  # room for their names
    axes.set_xticks(shown, [str(count) for count in shown])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("inputs processed for one explanation")
    axes.set_ylabel("share, %")
    axes.grid(color=FAINT, alpha=0.25, lw=0.6)
    box = axes.get_position()
    axes.set_position((box.x0, box.y0, 0.68 * box.width, box.height))
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
