"""From what was seen of every seed to the examples that a run keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..types import DrawingData, TaskData
from .examples import Array, ExampleColumn, Examples, Scores
from .judgement.removal_test import removal_tests
from .observations import Measurement, SeedResult, StoredScores
from .pictures import pictures_of


def gather(
    results: Sequence[SeedResult],
    data: TaskData,
    explanations: Sequence[str],
    drawn: Mapping[str, Mapping[str, DrawingData]],
) -> Examples:
    """The test split with every prediction and every measure of one example, by seed.

    Scores, and what examples are made of, where the scores were kept in measuring.
    """
    first = results[0].observation
    measured = [m for m in first.measurements if not m.whole_split and m.explanation in (None, *explanations)]
    kept = [result.observation.kept for result in results]
    scored = [one for one in kept if one is not None]
    examples = data.test if scored else ()
    tests = removal_tests(results)
    return Examples(
        label_names=data.label_names,
        seeds=tuple(result.seed for result in results),
        columns=tuple(
            ExampleColumn(m.metric, measure.name, m.explanation, m.reference, measure.direction)
            for m in measured
            for measure in m.measures
            if measure.shown
        ),
        ids=tuple(example.id for example in data.test),
        labels=first.labels,
        units=tuple(example.units for example in examples),
        queries=tuple(example.query for example in examples),
        rationales=tuple(example.rationale for example in examples),
        predicted=np.stack([result.observation.predicted for result in results]),
        probabilities=np.stack([_softmax(result.observation.logits) for result in results]),
        measures=np.stack([_measures(result, measured) for result in results]),
        lengths=scored[0].lengths if scored else np.zeros(len(data.test), dtype=int),
        scores=_scores(scored),
        without_top={
            name: np.stack([one.without_top[name] for one in scored])
            for name in (scored[0].without_top if scored else ())
        },
        gains={name: tests[0].gain(name) for name in tests[0].columns} if tests else {},
        best_gain=tests[0].range if tests else None,
        pictures=pictures_of(data) if scored else {},
        drawn=drawn,
    )


def _scores(kept: Sequence[StoredScores]) -> dict[str, Scores]:
    return {
        name: Scores(
            np.stack([one.shares[name] for one in kept]), np.stack([one.largest[name] for one in kept])
        )
        for name in (kept[0].shares if kept else ())
    }


def _measures(result: SeedResult, measured: Sequence[Measurement]) -> Array:
    """[N, K] in the order of the columns."""
    found = {m.key: m.values for m in result.observation.measurements}
    nothing = np.zeros((len(result.observation.labels), 0))
    shown = [[measure.shown for measure in m.measures] for m in measured]
    kept = (found[m.key][:, columns] for m, columns in zip(measured, shown, strict=True))
    return np.concatenate([nothing, *kept], axis=1)


def _softmax(logits: Array) -> Array:
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)
