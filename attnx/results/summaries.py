"""From the values of every seed to the rows and curves of a report."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..formulas.classification import macro_f1, roc_auc
from ..types import Axis, TaskData
from .judgement.constant_answer import most_frequent_label
from .judgement.removal_curves import removal_curves
from .observations import Key, Measurement, SeedResult
from .report import Curve, MethodCost, Quality, Summary
from .statistics import mean_over_seeds, summarise

Array = np.ndarray[Any, np.dtype[np.float64]]
Members = np.ndarray[Any, np.dtype[np.bool_]]


def summaries(
    results: Sequence[SeedResult],
    explanations: Sequence[str],
    baselines: Sequence[str],
    label_names: Sequence[str],
) -> tuple[Summary, ...]:
    """One row for every measure, explanation, reference and group, metrics in the order of measuring."""
    predicted = np.stack([result.observation.predicted for result in results])  # [S, N]
    groups: dict[str | None, Members] = {None: np.ones_like(predicted, dtype=bool)}
    groups |= {name: predicted == index for index, name in enumerate(label_names)}
    whole: dict[str | None, Members] = {None: np.ones((len(results), 1), dtype=bool)}
    measured = results[0].observation.measurements
    tables = []
    for of_split in (False, True):
        mine = [m for m in measured if m.whole_split == of_split]
        if mine:
            values = {m.key: _over_seeds(results, m) for m in mine}
            members = whole if of_split else groups
            tables.append([_table(mine, values, g, members[g], explanations, baselines) for g in members])
    # [measurement][group] of each table: the groups of one measurement follow one another
    measurements = [of_groups for table in tables for of_groups in zip(*table, strict=True)]
    rows = [row for of_groups in measurements for of_group in of_groups for row in of_group]
    order = list(dict.fromkeys(m.metric for m in measured))
    return tuple(sorted(rows, key=lambda row: order.index(row.metric)))


def _over_seeds(results: Sequence[SeedResult], like: Measurement) -> Array:
    """[S, N, M] the values of one metric, explanation and reference."""
    return np.stack(
        [m.values for result in results for m in result.observation.measurements if m.key == like.key]
    )


def _table(
    measured: Sequence[Measurement],
    values: dict[Key, Array],  # [S, N, M] each
    predicted: str | None,  # the label of the group; None: all examples
    member: Members,  # [S, N] of the group
    explanations: Sequence[str],
    baselines: Sequence[str],
) -> list[list[Summary]]:
    """The rows of a group for each measurement, all measures over the same examples summarised together."""
    asked = [
        m
        for m in measured
        if m.explanation in explanations or not (m.explanation in baselines or _decides(m))
    ]
    if not asked:
        return []
    shown = [[number for number, measure in enumerate(m.measures) if measure.shown] for m in asked]
    titles = [(m, number) for m, numbers in zip(asked, shown, strict=True) for number in numbers]
    parts = [_only(values[m.key][..., numbers], member) for m, numbers in zip(asked, shown, strict=True)]
    columns = np.ascontiguousarray(np.concatenate(parts, axis=2))  # [S, n, rows], added up in one order
    members = np.array([_measured(m, member).sum() for m, _ in titles])
    bounds = np.array([m.measures[number].bounds for m, number in titles]).T  # [2, rows]
    found = summarise(columns, members, (bounds[0], bounds[1]))
    baseline_means = {
        m.key: mean_over_seeds(_only(values[m.key], member)) for m in measured if m.explanation in baselines
    }
    rows = [
        Summary(
            metric=m.metric,
            measure=m.measures[number].name,
            family=m.family,
            explanation=m.explanation,
            reference=m.reference,
            yardstick=m.explanation not in (None, *explanations),
            predicted=predicted,
            mean=found.mean[row],
            sd=found.sd[row],
            n=found.n[row],
            undefined=found.undefined[row],
            low=found.low[row],
            high=found.high[row],
            direction=m.measures[number].direction,
            baselines={
                name: baseline_means[key][number]
                for name in baselines
                if (key := (m.metric, name, m.reference)) in baseline_means
            },
            seeds=tuple(found.seeds[:, row]),
        )
        for row, (m, number) in enumerate(titles)
    ]
    following = iter(rows)
    return [list(islice(following, len(numbers))) for numbers in shown]


def _decides(m: Measurement) -> bool:
    """Whether a measurement is part of the test that ranks explanations: `Report.ranking` has the others."""
    return any(measure.column for measure in m.measures)


def _measured(m: Measurement, member: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """[S, N] the members of a group that a metric was asked about."""
    return member if m.sampled is None else member & m.sampled


def _only(values: Array, member: np.ndarray[Any, Any]) -> Array:
    """[S, n, M] values of the members of a group, NaN where a seed has others.

    Examples that are members for no seed are left out: with many groups they would be nearly all.
    """
    some = np.flatnonzero(member.any(0))
    some = some if some.size else np.zeros(1, dtype=int)  # a group of nobody has one row of nothing
    return np.where(member[:, some, None], values[:, some], np.nan)


def curves(results: Sequence[SeedResult], explanations: Sequence[str], own: str) -> tuple[Curve, ...]:
    """Curves of metrics that draw one, and the course of training, which is followed on `own` attention."""
    drawn = [
        _metric_curve(result.seed, m, axis, line)
        for result in results
        for m in result.observation.measurements
        if m.explanation in (None, *explanations)
        for axis, line in m.curves
    ]
    courses = (curve for result in results for curve in _course(result, own))
    return (*drawn, *removal_curves(results), *courses)


def _metric_curve(seed: int, m: Measurement, axis: Axis, line: Array) -> Curve:
    return Curve(
        kind="metric",
        name=axis.name,
        metric=m.metric,
        explanation=m.explanation,
        reference=m.reference,
        seed=seed,
        axis=axis.label,
        x=axis.points,
        y=tuple(line),
    )


def costs(results: Sequence[SeedResult]) -> tuple[MethodCost, ...]:
    """Model passes for one explanation and seconds of every importance method, over all seeds."""
    found = []
    for method in results[0].observation.costs:
        of_seeds = [result.observation.costs[method] for result in results]
        examples = sum(cost.examples for cost in of_seeds)
        passes = sum(cost.passes for cost in of_seeds) / max(1, examples)
        seconds = round(sum(cost.seconds for cost in of_seeds), 6)
        reused = sum(cost.reused for cost in of_seeds)
        found.append(
            MethodCost(method=method, passes=passes, examples=examples, seconds=seconds, reused=reused)
        )
    return tuple(found)


def _course(result: SeedResult, own: str) -> list[Curve]:
    """One curve over epochs for the dev accuracy and every followed measure."""
    course = result.record.course
    lines: dict[tuple[str, str], list[float]] = {}
    for epoch in course:
        lines.setdefault(("training", "accuracy"), []).append(epoch.dev_accuracy)
        lines.setdefault(("training", "loss"), []).append(epoch.dev_loss)
        for metric, means in epoch.followed.items():
            for measure, mean in means.items():
                lines.setdefault((metric, measure), []).append(mean)
    return [
        Curve(
            kind="training",
            name=measure,
            metric=metric,
            explanation=own,
            reference=None,
            seed=result.seed,
            axis="epoch",
            x=tuple(epoch.epoch for epoch in course),
            y=tuple(line),
        )
        for (metric, measure), line in lines.items()
    ]


def quality(results: Sequence[SeedResult], data: TaskData) -> tuple[Quality, ...]:
    """Accuracy, F1 and the best constant answer on test, for every seed."""
    most_frequent = most_frequent_label(data, results[0].observation.labels)
    rows = []
    for result in results:
        observed = result.observation
        binary = len(data.label_names) == 2 and len(np.unique(observed.labels)) == 2
        margin = observed.logits[:, -1] - observed.logits[:, 0]
        rows.append(
            Quality(
                seed=result.seed,
                accuracy=float((observed.labels == observed.predicted).mean()),
                f1=macro_f1(observed.labels, observed.predicted),
                roc_auc=roc_auc(observed.labels, margin) if binary else None,
                majority=float((observed.labels == most_frequent).mean()),
                epochs=max((epoch.epoch for epoch in result.record.course), default=0),
                best_epoch=result.record.best_epoch,
                dev_accuracy=result.record.dev_accuracy,
            )
        )
    return tuple(rows)
