"""Kendall's τ-b with its p-value for every example: ours for a batch at once against scipy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.stats

from attnx_agreement.kendall import agreement

from .timing import Row, best_of

SIZES = ((400, 20), (45, 180), (4, 2000))  # examples, units: about the columns of one batch
TARGETS = {("axis=1", 20): 50.0, ("axis=1", 180): 14.0}  # elsewhere: no slower
REPEATS = 5

Array = np.ndarray[Any, np.dtype[np.float64]]
Answer = tuple[Array, Array]  # τ-b, and whether p ≤ .05
Contestant = Callable[[Array, Array], Answer]


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of ours and of each peer, best of several, and whether both computed the same."""
    generator = np.random.default_rng(0)
    measured = []
    for examples, units in ((3, 5),) if tiny else SIZES:
        x = generator.random((examples, units)).round(3)  # rounded, so that some values tie
        y = (x + 2 * generator.random((examples, units))).round(3)
        contestants: dict[str, Contestant] = {"ours": _ours, "axis=1": _scipy_axis, "a loop": _scipy_loop}
        best = best_of(REPEATS, {name: partial(run, x, y) for name, run in contestants.items()}, in_a_row=20)
        ours = best.pop("ours")
        for name, peer in best.items():
            work = f"kendall, {examples} x {units}, scipy {name}"
            same = all(np.array_equal(a, b) for a, b in zip(ours.result, peer.result, strict=True))
            target = TARGETS.get((name, units), 1.0)
            measured.append(Row(work, ours.seconds, peer.seconds, target, same))
    return measured


def _ours(x: Array, y: Array) -> Answer:
    tau, above, below, _ = agreement(x, y, np.ones(x.shape, dtype=bool))
    return tau, above + below


def _scipy_axis(x: Array, y: Array) -> Answer:
    result = scipy.stats.kendalltau(x, y, axis=1)
    return result.statistic, (result.pvalue <= 0.05).astype(float)


def _scipy_loop(x: Array, y: Array) -> Answer:
    results = [scipy.stats.kendalltau(a, b) for a, b in zip(x, y, strict=True)]
    return np.array([r.statistic for r in results]), np.array([float(r.pvalue <= 0.05) for r in results])
