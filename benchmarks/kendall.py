"""Kendall's τ-b with its p-value for every example: ours for a batch at once against scipy."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

from attnx_agreement.kendall import agreement

SIZES = ((400, 20), (45, 180), (4, 2000))  # examples, units: about the columns of one batch
TARGETS = {("axis=1", 20): 50.0, ("axis=1", 180): 10.0}  # elsewhere: no slower
REPEATS = 5

Array = np.ndarray[Any, np.dtype[np.float64]]
Answer = tuple[Array, Array]  # τ-b, and whether p ≤ .05
Contestant = Callable[[Array, Array], Answer]


def rows() -> list[dict[str, Any]]:
    """Seconds of ours and of each peer, best of several, and whether both computed the same."""
    generator = np.random.default_rng(0)
    measured = []
    for examples, units in SIZES:
        x = generator.random((examples, units)).round(3)  # rounded, so that some values tie
        y = (x + 2 * generator.random((examples, units))).round(3)
        peers: dict[str, Contestant] = {"axis=1": _scipy_axis, "a loop": _scipy_loop}
        ours, *theirs = _best_times([_ours, *peers.values()], x, y)
        for name, seconds in zip(peers, theirs, strict=True):
            pairs = zip(_ours(x, y), peers[name](x, y), strict=True)
            measured.append(
                {
                    "work": f"kendall, {examples} x {units}, scipy {name}",
                    "ours": ours,
                    "peer": seconds,
                    "ratio": seconds / ours,
                    "target": TARGETS.get((name, units), 1.0),
                    "equal": all(np.array_equal(a, b) for a, b in pairs),
                }
            )
    return measured


def _ours(x: Array, y: Array) -> Answer:
    tau, significant, _ = agreement(x, y, np.ones(x.shape, dtype=bool))
    return tau, significant


def _scipy_axis(x: Array, y: Array) -> Answer:
    result = scipy.stats.kendalltau(x, y, axis=1)
    return result.statistic, (result.pvalue <= 0.05).astype(float)


def _scipy_loop(x: Array, y: Array) -> Answer:
    results = [scipy.stats.kendalltau(a, b) for a, b in zip(x, y, strict=True)]
    return np.array([r.statistic for r in results]), np.array([float(r.pvalue <= 0.05) for r in results])


def _best_times(contestants: list[Contestant], x: Array, y: Array) -> list[float]:
    """The fastest run of each: turns so that a busy moment hits all alike, three runs to warm its caches."""
    best = [float("inf")] * len(contestants)
    for _ in range(REPEATS):
        for index, run in enumerate(contestants):
            for _ in range(3):
                start = time.perf_counter()
                run(x, y)
                best[index] = min(best[index], time.perf_counter() - start)
    return best


if __name__ == "__main__":
    for row in rows():
        verdict = "equal" if row["equal"] else "DIFFERENT"
        print(
            f"{row['work']:34} ours {1e3 * row['ours']:7.3f} ms  peer {1e3 * row['peer']:8.3f} ms  "
            f"{row['ratio']:6.1f} x (target {row['target']})  {verdict}"
        )
