"""Expensive metrics, measured on a random sample of the test split if all of it would take too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

import numpy as np
from torch import nn

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

BUDGET: Final = 2e13  # multiplications and additions of one seed: some minutes of a processor
CHEAP: Final = 1e6  # of one unit in a small model; what a model without parameters does is not known
LEAST: Final = 50  # examples: fewer say little, whatever they cost
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
    explanations, references, _, baselines, alternatives = (
        tuple(named for named in role if named.label in read) for role in tests.roles
    )
    return Tests(explanations, references, metrics, baselines, alternatives)


def units_sent(tests: Tests[Named], counts: Array) -> Array:
    """[N] about how many units go through the model for examples of so many units [N]."""
    methods = (*tests.explanations, *tests.references, *tests.alternatives)
    return units_declared(methods, pairings(tests), counts)


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


def units_at_once(model: Model) -> float:
    """How many units go through a model within the budget: each meets every weight but the word vectors."""
    module = cast("nn.Module", model)
    tables = [part for part in module.modules() if isinstance(part, nn.Embedding)]
    vectors = {id(parameter) for table in tables for parameter in table.parameters()}
    weights = sum(p.numel() for p in module.parameters() if id(p) not in vectors)
    return BUDGET / max(CHEAP, 2.0 * weights)


def draw_sample(
    tests: Tests[Named], examples: Sequence[Example], asked: Sample, affordable: float
) -> Array | None:
    """Draw the examples of expensive metrics, in their order; None for all of them.

    By default as many as send `affordable` units through the model.
    """
    if asked == "all" or not expensive_metrics(tests):
        return None
    size = _affordable(tests, examples, affordable) if asked == "auto" else asked
    if size >= len(examples):
        return None
    return np.sort(np.random.default_rng(SEED).permutation(len(examples))[:size])


def _affordable(tests: Tests[Named], examples: Sequence[Example], units: float) -> int:
    counts = np.array([len(example.units) for example in examples], dtype=float)
    sent = units_sent(part_of(tests, expensive=True), counts).mean()
    return max(LEAST, int(units / max(1.0, sent)))
