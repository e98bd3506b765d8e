"""k-means of the hidden states of one rank: ours against scikit-learn, on as many threads."""

from __future__ import annotations

import time
from typing import Any

import torch
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits
from torch import Tensor

from attnx_information.kmeans import kmeans

POINTS, SIZE, CLUSTERS = 4000, 256, 100
SEEDS = 5
TOLERANCE = 0.01  # of inertia: the sum of squared distances that both minimise


def rows() -> list[dict[str, Any]]:
    """Seconds of ours and of the peer, best of several seeds; equal: our inertia is within 1 %."""
    measured = []
    for name, points in _points().items():
        ours, peer = float("inf"), float("inf")
        our_inertia, peer_inertia = 0.0, 0.0
        for seed in range(SEEDS):
            start = time.perf_counter()
            our_inertia += kmeans(points, CLUSTERS, torch.Generator().manual_seed(seed)).inertia
            ours = min(ours, time.perf_counter() - start)
            start = time.perf_counter()
            with threadpool_limits(torch.get_num_threads()):
                peer_inertia += KMeans(CLUSTERS, n_init=1, random_state=seed).fit(points.numpy()).inertia_
            peer = min(peer, time.perf_counter() - start)
        measured.append(
            {
                "work": f"k-means, {POINTS} x {SIZE}, {CLUSTERS} clusters, {name}",
                "ours": ours,
                "peer": peer,
                "ratio": peer / ours,
                "target": 2.0,
                "equal": our_inertia < (1 + TOLERANCE) * peer_inertia,
            }
        )
    return measured


def _points() -> dict[str, Tensor]:
    """Points without any structure, and points like hidden states: bounded, of few real dimensions."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(POINTS, SIZE, generator=generator)
    few = torch.randn(POINTS, 16, generator=generator) @ torch.randn(16, SIZE, generator=generator)
    return {"Gaussian": noise, "states": torch.tanh(0.3 * (few + noise))}


if __name__ == "__main__":
    for row in rows():
        verdict = "equal" if row["equal"] else "WORSE"
        print(
            f"{row['work']:46} ours {row['ours']:6.3f} s  scikit-learn {row['peer']:6.3f} s  "
            f"{row['ratio']:4.1f} x (target {row['target']})  inertia {verdict}"
        )
