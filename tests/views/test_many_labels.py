"""The rows of groups: each as if it stood alone; a thousand groups need no memory of their own."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from attnx.results.observations import Measurement
from attnx.results.summaries import summaries
from attnx.types import Measure


def results(labels: int, examples: int, seeds: int = 2) -> list[Any]:
    rng = np.random.default_rng(0)

    def measured(metric: str, explanation: str) -> Measurement:
        values = np.where(rng.random((examples, 1)) < 0.1, np.nan, rng.random((examples, 1)))
        measure = Measure("x", "none", (0, 1))
        return Measurement(metric, "shape", "scores", (measure,), explanation, None, False, values, ())

    return [
        SimpleNamespace(
            observation=SimpleNamespace(
                predicted=rng.integers(0, labels - 1, examples),  # the last label is predicted by nobody
                measurements=tuple(measured(m, e) for m in "ab" for e in ("attention", "random")),
            )
        )
        for _ in range(seeds)
    ]


def test_every_group_has_the_mean_of_its_members() -> None:
    seen = results(4, 40)
    rows = summaries(seen, ["attention"], ["random"], list("wxyz"))
    order = ["all", *(f"predicted={name}" for name in "wxyz")]
    assert [(row.metric, row.group) for row in rows] == [(m, group) for m in "ab" for group in order]
    for row in rows:
        means, counts = [], 0
        for one in seen:
            (m,) = [
                m
                for m in one.observation.measurements
                if (m.metric, m.explanation) == (row.metric, "attention")
            ]
            member = (one.observation.predicted == order.index(row.group) - 1) | (row.group == "all")
            values = m.values[member, 0]
            counts += int((~np.isnan(values)).sum())
            if counts:
                means.append(np.nanmean(values))
        assert row.n == counts
        assert row.mean == pytest.approx(np.mean(means) if means else np.nan, nan_ok=True) or row.mean is None
    assert rows[4].n == 0


def test_a_thousand_labels_take_no_memory_of_their_own() -> None:
    seen = results(1000, 2000)
    tracemalloc.start()
    try:
        summaries(seen, ["attention"], ["random"], [str(label) for label in range(1000)])
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 40_000_000  # values of all examples for every label would be 64 MB a copy
