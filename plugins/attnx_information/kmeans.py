"""k-means: Lloyd's iterations from greedy k-means++ seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

ITERATIONS = 300
NOTHING = 1e-6  # squared distances below this share of the variance are rounding


@dataclass(frozen=True, slots=True)
class Clusters:
    """A partition of points."""

    labels: Tensor  # [n]
    sizes: Tensor  # [k]
    centres: Tensor  # [k, d]
    inertia: float  # Σ_i ‖x_i − c_{label_i}‖²


def kmeans(points: Tensor, clusters: int, generator: torch.Generator) -> Clusters:
    """Partition points [n, d] into at most that many clusters: fewer where there are fewer distinct points.

    Iterates until no label changes. A cluster that loses all its points starts anew at the point
    farthest from its own centre.
    """
    mean = points.mean(0)
    x = points - mean  # distances of points near the origin lose least to rounding
    square = (x * x).sum(1)  # [n] ‖x_i‖²
    nothing = NOTHING * float(square.mean())
    centres = x[_seeds(x, square, clusters, nothing, generator)]  # [k, d]
    scores = x.new_empty(len(x), len(centres))
    labels = sizes = None
    for _ in range(ITERATIONS):
        before = labels
        torch.addmm((centres * centres).sum(1), x, centres.T, alpha=-2, out=scores)  # ‖x − c‖² − ‖x‖²
        least, labels = scores.min(1)  # [n]
        if before is not None and torch.equal(labels, before):
            break
        sizes = labels.bincount(minlength=len(centres))  # [k]
        sums = torch.zeros_like(centres).index_add_(0, labels, x)
        filled = (sizes > 0)[:, None]
        centres = torch.where(filled, sums / sizes.clamp_min(1)[:, None], centres)
        empty = (~filled[:, 0]).nonzero()[:, 0]
        if len(empty):
            far, which = (square + least).topk(len(empty))
            worth = far > nothing
            centres[empty[worth]] = x[which[worth]]
    assert labels is not None and sizes is not None
    inertia = (x - centres[labels]).square().sum(dtype=torch.float64)
    return Clusters(labels, sizes, centres + mean, float(inertia))


def _seeds(x: Tensor, square: Tensor, clusters: int, nothing: float, generator: torch.Generator) -> Tensor:
    """[k] points to start from: each the best of a few drawn by their distance from those before.

    A draw is likelier the farther a point is, and the best is the one that leaves the least sum of
    squared distances.
    """
    candidates = 2 + int(math.log(clusters))
    first = torch.randint(len(x), (1,), generator=generator)
    chosen = [first]
    distance = _distances(x, square, first, nothing)[0]  # [n] from the nearest of the chosen
    while len(chosen) < clusters:
        mass = distance.cumsum(0, dtype=torch.float64)
        if mass[-1] == 0:  # every point is chosen, or a copy of one that is
            break
        draws = torch.rand(candidates, generator=generator, dtype=torch.float64) * mass[-1]
        drawn = torch.searchsorted(mass, draws, right=True).clamp_max(len(x) - 1)
        nearest = torch.minimum(_distances(x, square, drawn, nothing), distance)  # [candidates, n]
        best = int(nearest.sum(1).argmin())
        chosen.append(drawn[best : best + 1])
        distance = nearest[best]
    return torch.cat(chosen)


def _distances(x: Tensor, square: Tensor, of: Tensor, nothing: float) -> Tensor:
    """[m, n] squared distances of the points `of` [m] from all points, exactly 0 from their copies."""
    apart = torch.addmm(square, x[of], x.T, alpha=-2).add_(square[of][:, None])
    return apart.masked_fill_(apart <= nothing, 0.0)
