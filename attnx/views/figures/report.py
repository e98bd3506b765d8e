"""The figures of a run: each only where the run has its numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...host.catalog import Catalog
from ...results.examples import ExampleColumn, Examples
from ...results.report import Curve, Report, Summary
from .figure import DASHES, FAINT, INK, MARKERS, SERIES, ReportFigure, slug
from .plugins import plugin_figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = np.ndarray[Any, np.dtype[np.float64]]

BINS = np.linspace(-1, 1, 41)
FEW = 6  # lines that have a band each, and room for their names among them
MOST_CLASSES = 8  # in one figure
MOST_POINTS = 600  # of a scatter: more of them are a blot and weigh megabytes


def drawings(
    report: Report, examples: Examples | None = None, catalog: Catalog | None = None
) -> list[ReportFigure]:
    """Every figure that the report and its stored examples have the numbers for."""
    found = [*curve_drawings(report.curves), *training_drawings(report.curves)]
    if examples is not None:
        found = [*_agreement_drawings(examples), *_weight_drawings(report, examples), *found]
    cost = _cost_drawing(report)
    shown = plugin_figures(examples.drawn, catalog) if examples is not None and examples.drawn else []
    return [*shown, *found, cost] if cost else [*shown, *found]


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
            _over_seeds(group),
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
    _label(axes, curves[0].axis, curves[0].name)
    _draw_lines(axes, lines)


def _draw_lines(axes: Axes, lines: Mapping[str, Sequence[Curve]]) -> None:
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
            + _over_seeds(group),
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
    _label(axes, "epoch", next(iter(lines)) if len(lines) == 1 else "")
    _draw_lines(axes, lines)


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
    _label(axes, "largest attention weight", examples.columns[at].measure)
    axes.set_xlim(0, 1.02)
    axes.legend(title="predicted")


def _cost_drawing(report: Report) -> ReportFigure | None:
    """The cost of every explanation and its quality, by the most trusted family there is."""
    rows = [s for s in report.summaries if s.predicted is None and s.explanation and s.mean is not None]
    for family in ("erasure", "agreement", "ground-truth"):
        better = [s for s in rows if s.family == family and s.direction != "none"]
        first = better[0] if better else None
        if first is None:
            continue
        points = [
            s
            for s in better
            if (s.metric, s.measure, s.reference) == (first.metric, first.measure, first.reference)
        ]
        if len(points) > 1:
            return ReportFigure(
                "cost",
                f"Cost and {first.title}" + (f" with {first.reference}" if first.reference else ""),
                "Model passes for one explanation, and the measure with its 95 % interval. Dashed line: "
                "random scores.",
                (5.2, 3.0),
                partial(_draw_cost, report=report, points=points),
            )
    return None


def _draw_cost(figure: Figure, report: Report, points: Sequence[Summary]) -> None:
    axes = figure.add_subplot()
    passes = {cost.method: cost.passes for cost in report.costs}
    for place, s in enumerate(points):
        mean, interval = s.mean or 0.0, s.interval
        ends = [[mean - interval.low], [interval.high - mean]] if interval else None
        colour, marker = SERIES[place % len(SERIES)], MARKERS[place % len(MARKERS)]
        x = passes.get(s.explanation or "", 0.0)
        axes.errorbar(
            [x], [mean], yerr=ends, fmt=marker, color=colour, capsize=2, label=_short(s.explanation or "")
        )
    at_random = points[0].baselines.get("random")
    if at_random is not None:
        axes.axhline(at_random, color=FAINT, ls="--", lw=1)
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(left=-0.2)
    _label(axes, "model passes for one explanation", points[0].title)
    axes.legend()


def _label(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(color=FAINT, alpha=0.25, lw=0.6)
    axes.ticklabel_format(axis="y", scilimits=(-2, 4))  # short enough for the space next to the axes
    if x in ("epoch", "rank"):
        axes.locator_params(axis="x", integer=True)


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


def _first_measure(examples: Examples, column: ExampleColumn) -> str:
    return next(c.measure for c in examples.columns if c.metric == column.metric)


def _index(examples: Examples, column: ExampleColumn, measure: str) -> int | None:
    same = (column.metric, measure, column.explanation, column.reference)
    keys = [(c.metric, c.measure, c.explanation, c.reference) for c in examples.columns]
    return keys.index(same) if same in keys else None


def _over_seeds(curves: Sequence[Curve]) -> str:
    seeds = len({curve.seed for curve in curves})
    if seeds == 1:
        return "Means over the examples, one seed."
    band = "; the band spans the lowest to the highest seed"
    return f"Each line is the mean over {seeds} seeds{band * (_lines(curves) <= FEW)}."


def _lines(curves: Sequence[Curve]) -> int:
    return len({(curve.explanation, curve.name) for curve in curves})
