"""k-means of the hidden states of one rank: ours against scikit-learn, on as many threads."""

from __future__ import annotations

from functools import partial

import torch
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits
from torch import Tensor

from attnx_information.kmeans import Space, kmeans

from .timing import Row, best_of

POINTS, SIZE, CLUSTERS = 4000, 256, 100
SEEDS = 5
REPEATS = 3
TOLERANCE = 0.01  # of inertia: the sum of squared distances that both minimise


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of ours and of the peer for several seeds, best of several; equal: inertia within 1 %."""
    measured = []
    count, clusters = (60, 4) if tiny else (POINTS, CLUSTERS)
    for name, points in _points(count).items():
        runs = {"ours": partial(_ours, points, clusters), "peer": partial(_scikit_learn, points, clusters)}
        best = best_of(REPEATS, runs)
        ours, peer = best["ours"], best["peer"]
        work = f"k-means, {count} x {SIZE}, {clusters} clusters, {name}"
        same = ours.result < (1 + TOLERANCE) * peer.result
        measured.append(Row(work, ours.seconds, peer.seconds, 4.0, same))
    return measured


def _ours(points: Tensor, clusters: int) -> float:
    """Inertia, over several seeds."""
    seeds = range(SEEDS)
    return sum(
        kmeans(Space.of(points), clusters, torch.Generator().manual_seed(seed)).inertia for seed in seeds
    )


def _scikit_learn(points: Tensor, clusters: int) -> float:
    with threadpool_limits(torch.get_num_threads()):
        return sum(
            float(KMeans(clusters, n_init=1, random_state=seed).fit(points.numpy()).inertia_)
            for seed in range(SEEDS)
        )


def _points(count: int) -> dict[str, Tensor]:
    """Points without any structure, and points like hidden states: bounded, of few real dimensions."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(count, SIZE, generator=generator)
    few = torch.randn(count, 16, generator=generator) @ torch.randn(16, SIZE, generator=generator)
    return {"Gaussian": noise, "states": torch.tanh(0.3 * (few + noise))}
