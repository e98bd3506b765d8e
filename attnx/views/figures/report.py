"""The figures of a run: each only where the run has its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...host.catalog import Catalog
from ...results.examples import ExampleColumn, Examples
from ...results.report import Curve, Report
from .agreement import agreement_figures
from .figure import FAINT, INK, MARKERS, SERIES, ReportFigure, slug
from .lines import draw_lines, label, over_seeds
from .plugins import plugin_figures
from .ranking import ranking_figures
from .removal import removal_figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = np.ndarray[Any, np.dtype[np.float64]]

BINS = np.linspace(-1, 1, 41)
MOST_CLASSES = 8  # in one figure
MOST_POINTS = 600  # of a scatter: more of them are a blot and weigh megabytes


def drawings(
    report: Report, examples: Examples | None = None, catalog: Catalog | None = None
) -> list[ReportFigure]:
    """Every figure that the report and its stored examples have the numbers for."""
    leading = [*ranking_figures(report), *removal_figures(report)]
    found = [*curve_drawings(report.curves), *training_drawings(report.curves)]
    shown: list[ReportFigure] = []
    if examples is not None:
        leading += agreement_figures(examples)
        found = [*_agreement_drawings(examples), *_weight_drawings(report, examples), *found]
        shown = plugin_figures(examples.drawn, catalog) if examples.drawn else []
    return [*shown, *leading, *found]


def curve_drawings(curves: Sequence[Curve]) -> list[ReportFigure]:
    """One figure for every curve that a metric draws, e.g. erasure by share of deleted units."""
    groups: dict[tuple[str, str, str | None], list[Curve]] = {}
    for curve in curves:
        if curve.kind == "metric":
            groups.setdefault((curve.metric, curve.name, curve.reference), []).append(curve)
    return [
        ReportFigure(
            slug(metric, name, reference or ""),
            f"{metric}: {name}" + (f" compared with {reference}" if reference else ""),
            over_seeds(group),
            (5.2, 3.0),
            partial(_draw_curves, curves=group),
        )
        for (metric, name, reference), group in groups.items()
    ]


def _draw_curves(figure: Figure, curves: Sequence[Curve]) -> None:
    axes = figure.add_subplot()
    lines: dict[str, list[Curve]] = {}
    for curve in curves:
        lines.setdefault(curve.explanation or "the model's attention", []).append(curve)
    label(axes, curves[0].axis, curves[0].name)
    draw_lines(axes, lines)


def training_drawings(curves: Sequence[Curve]) -> list[ReportFigure]:
    """Curves over training: accuracy and loss on dev, and the measures of metrics that follow training."""
    groups: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        if curve.kind == "training" and len(curve.x) > 1:
            measure = curve.name if curve.metric == "training" else ""
            groups.setdefault((curve.metric, measure), []).append(curve)
    return [
        ReportFigure(
            slug(metric, measure, "course"),
            f"{(measure or metric).capitalize()} over training",
            "Measured on the dev split after every epoch; epoch 0 is the untrained model. "
            + over_seeds(group),
            (5.2, 2.8),
            partial(_draw_training, curves=group),
        )
        for (metric, measure), group in groups.items()
    ]


def _draw_training(figure: Figure, curves: Sequence[Curve]) -> None:
    axes = figure.add_subplot()
    lines: dict[str, list[Curve]] = {}
    for curve in curves:
        lines.setdefault(curve.name, []).append(curve)
    label(axes, "epoch", next(iter(lines)) if len(lines) == 1 else "")
    draw_lines(axes, lines)


def _agreement_drawings(examples: Examples) -> list[ReportFigure]:
    """A histogram of τ for every predicted class, with the highest mean that ties allow."""
    groups: dict[tuple[str, str], list[int]] = {}
    for at, column in enumerate(examples.columns):
        if column.measure == "tau" and column.explanation and column.reference != column.explanation:
            groups.setdefault((column.metric, column.reference or ""), []).append(at)
    return [
        ReportFigure(
            slug(metric, reference, "by class"),
            f"{metric}: τ compared with {reference}, by predicted class",
            "Histogram of τ over examples, seeds pooled. Dot: mean. Dashed line: mean attainable maximum "
            "given ties. 0 means no agreement.",
            (max(5.2, 1.4 + 2.4 * len(group)), 1.1 + 0.7 * min(len(examples.label_names), MOST_CLASSES)),
            partial(_draw_by_class, examples=examples, group=group),
            left=1.3,
        )
        for (metric, reference), group in groups.items()
    ]


def _draw_by_class(figure: Figure, examples: Examples, group: Sequence[int]) -> None:
    names = examples.label_names[:MOST_CLASSES]
    grid = figure.subplots(len(names), len(group), sharex=True, squeeze=False)
    for across, at in enumerate(group):
        ceiling = _index(examples, examples.columns[at], "ceiling")
        for down, name in enumerate(names):
            axes, member = grid[down, across], examples.predicted == down
            _draw_distribution(axes, examples.measures[:, :, at][member], SERIES[down % len(SERIES)])
            most = examples.measures[:, :, ceiling][member] if ceiling is not None else np.zeros(0)
            if not np.isnan(most).all():
                axes.axvline(np.nanmean(most), color=INK, ls="--", lw=1)
            if across == 0:
                axes.set_ylabel(_short(name), rotation=0, ha="right", va="center")
        grid[0, across].set_title(_short(examples.columns[at].explanation or ""))
        grid[-1, across].set_xlabel("τ")


def _draw_distribution(axes: Axes, values: Array, colour: str) -> None:
    values = values[~np.isnan(values)]
    axes.stairs(*np.histogram(values, BINS), fill=True, color=colour, alpha=0.75)
    axes.axvline(0, color=FAINT, lw=0.8)
    if len(values):
        axes.plot(values.mean(), 0, "o", color=INK, ms=5, clip_on=False, zorder=5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlim(-1, 1.02)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1])


def _weight_drawings(report: Report, examples: Examples) -> list[ReportFigure]:
    """The effect of changed attention by the largest weight of the example."""
    attention = examples.scores.get("attention")
    if attention is None:
        return []
    said = {
        "permutation": "Each dot is an example: how much the output changes when its attention weights are "
        f"shuffled. A dot at the lower right has one {report.unit} with most of the weight, and moving that "
        "weight changes little.",
        "adversarial-attention": "Each dot is an example: how far its attention can change while the output "
        f"stays the same. A dot at the upper right has one {report.unit} with most of the weight, and that "
        "weight did not matter. The maximum possible is ln 2 = 0.693.",
    }
    captions = {used.label: said[used.name] for used in report.components if used.name in said}
    return [
        ReportFigure(
            slug(column.metric, "largest weight"),
            f"{column.metric}: {column.measure} by largest weight",
            captions[column.metric],
            (5.2, 3.2),
            partial(_draw_scatter, examples=examples, at=at, largest=attention.largest),
        )
        for at, column in enumerate(examples.columns)
        if column.explanation is None
        and column.metric in captions
        and column.measure == _first_measure(examples, column)
    ]


def _draw_scatter(figure: Figure, examples: Examples, at: int, largest: Array) -> None:
    axes = figure.add_subplot()
    x, y, predicted = (a.ravel() for a in (largest, examples.measures[:, :, at], examples.predicted))
    step = math.ceil(len(x) / MOST_POINTS)
    x, y, predicted = x[::step], y[::step], predicted[::step]
    for place, name in enumerate(examples.label_names[: len(SERIES)]):
        mine = predicted == place
        marker = MARKERS[place % len(MARKERS)]
        axes.plot(x[mine], y[mine], marker, color=SERIES[place], alpha=0.55, ms=3, label=_short(name))
    label(axes, "largest attention weight", examples.columns[at].measure)
    axes.set_xlim(0, 1.02)
    axes.legend(title="predicted")


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


def _first_measure(examples: Examples, column: ExampleColumn) -> str:
    return next(c.measure for c in examples.columns if c.metric == column.metric)


def _index(examples: Examples, column: ExampleColumn, measure: str) -> int | None:
    same = (column.metric, measure, column.explanation, column.reference)
    keys = [(c.metric, c.measure, c.explanation, c.reference) for c in examples.columns]
    return keys.index(same) if same in keys else None
