"""Expensive metrics, measured on a random sample of the test split if all of it would take too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from ...progress import Progress
from ...protocols import Model
from ...request.plan import Tests
from ...request.spec import Sample
from ...results.observations import Observation
from ...types import Example
from .attribution import Named
from .measurement import MeasureSplit, observe, pairings
from .pass_meter import units_declared
from .score_keeper import ScoreKeeper
from .splits import Split

BUDGET: Final = 40_000_000  # units sent through the model for one seed
LEAST: Final = 100  # examples: fewer say little, whatever they cost
SEED: Final = 0  # all training seeds are measured on the same sample

Array = np.ndarray[Any, np.dtype[Any]]


def expensive_metrics(tests: Tests[Named]) -> tuple[str, ...]:
    """The metrics that send examples through the model, or read scores whose method does."""
    explained = any(named.component.passes for named in tests.explanations)
    compared = any(named.component.passes for named in tests.references)
    return tuple(
        metric.label
        for metric in tests.metrics
        if metric.component.passes
        or (explained and metric.component.reads_explanation)
        or (compared and "reference" in metric.component.needs)
    )


def part_of(tests: Tests[Named], *, expensive: bool) -> Tests[Named]:
    """The expensive metrics, or the others, with the scores that they read."""
    labels = expensive_metrics(tests)
    metrics = tuple(metric for metric in tests.metrics if (metric.label in labels) == expensive)
    read = {label for _, *pair in pairings(replace(tests, metrics=metrics)) for label in pair}
    explanations, references, baselines = (
        tuple(named for named in role if named.label in read)
        for role in (tests.explanations, tests.references, tests.baselines)
    )
    return Tests(explanations, references, metrics, baselines)


def units_sent(tests: Tests[Named], counts: Array) -> Array:
    """[N] about how many units go through the model for examples of so many units [N]."""
    return units_declared((*tests.explanations, *tests.references), pairings(tests), counts)


def observe_with_sample(
    model: Model,
    split: Split,
    tests: Tests[Named],
    rows: Array | None,
    *,
    seed: int,
    progress: Progress,
    label: str,
    keeper: ScoreKeeper | None = None,
    title: str = "the model",
    measure_split: MeasureSplit | None = None,
) -> Observation:
    """Measure everything on all examples, or expensive metrics on the examples in `rows` only."""
    observe_ = partial(observe, model, seed=seed, progress=progress, title=title, measure_split=measure_split)
    if rows is None:
        return observe_(split, tests, label=label, keeper=keeper)
    cheap, expensive = part_of(tests, expensive=False), part_of(tests, expensive=True)
    at_hand = {"attention", *(named.label for named in (*cheap.explanations, *cheap.references))}
    chosen = split.among(rows.tolist())
    whole = observe_(split, cheap, label=label, keeper=keeper and keeper.of(at_hand))
    rest = keeper and keeper.of({*keeper.methods} - at_hand)
    sample = observe_(chosen, expensive, label=f"{label} a sample", keeper=rest)
    return whole.joined(sample, rows, [metric.label for metric in tests.metrics])


def draw_sample(tests: Tests[Named], examples: Sequence[Example], asked: Sample) -> Array | None:
    """Draw the examples of expensive metrics, in their order; None for all of them."""
    if asked == "all" or not expensive_metrics(tests):
        return None
    size = _affordable(tests, examples) if asked == "auto" else asked
    if size >= len(examples):
        return None
    return np.sort(np.random.default_rng(SEED).permutation(len(examples))[:size])


def _affordable(tests: Tests[Named], examples: Sequence[Example]) -> int:
    counts = np.array([len(example.units) for example in examples], dtype=float)
    sent = units_sent(part_of(tests, expensive=True), counts).mean()
    return max(LEAST, int(BUDGET / max(1.0, sent)))
