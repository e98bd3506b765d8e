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
    """Partition points [n, d] into that many clusters, or as many as there are distinct points."""
    return lloyd(points, points[seeds(points, clusters, generator)])


def lloyd(points: Tensor, centres: Tensor) -> Clusters:
    """The partition of points [n, d] that centres [k, d] settle on when no label changes any more.

    A centre that is left without points starts anew at the point farthest from its own centre. Only
    distances from centres that moved are computed again.
    """
    space = _Space.of(points)
    x, columns, square = space.x, space.columns, space.square
    centres = centres - space.origin
    scores = x.new_empty(len(centres), len(x))  # [k, n] ‖x − c‖² − ‖x‖²
    moved = torch.arange(len(centres), device=x.device)
    labels = torch.full_like(square, -1, dtype=torch.long)  # [n]
    for _ in range(ITERATIONS):
        there = centres[moved]
        scores[moved] = torch.addmm((there * there).sum(1)[:, None], there, columns, alpha=-2)
        before = labels
        least, labels = scores.min(0)
        if torch.equal(labels, before):
            break
        old = centres
        sizes = labels.bincount(minlength=len(old))  # [k]
        centres = torch.zeros_like(old).index_add_(0, labels, x).div_(sizes[:, None])
        empty = (sizes == 0).nonzero()[:, 0]
        if len(empty):
            far, farthest = (square + least).topk(len(empty))
            worth = (far > space.nothing)[:, None]
            centres[empty] = torch.where(worth, x[farthest], old[empty])
        moved = (centres != old).any(1).nonzero()[:, 0]
    inertia = (x - centres[labels]).square().sum(dtype=torch.float64)
    sizes = labels.bincount(minlength=len(centres))
    return Clusters(labels, sizes, centres + space.origin, float(inertia))


def seeds(points: Tensor, clusters: int, generator: torch.Generator) -> Tensor:
    """[k] points to start from: each the best of a few drawn by their distance from those before.

    A draw is likelier the farther a point is, and the best is the one that leaves the least sum of
    squared distances.
    """
    space = _Space.of(points)
    candidates = 2 + int(math.log(clusters))
    chosen = torch.randint(len(points), (1,), generator=generator)
    distance = space.distances(chosen)[0]  # [n] from the nearest of the chosen
    while len(chosen) < clusters:
        mass = distance.cumsum(0, dtype=torch.float64)
        if mass[-1] == 0:  # every point is chosen, or a copy of one that is
            break
        draws = torch.rand(candidates, generator=generator, dtype=torch.float64) * mass[-1]
        drawn = torch.searchsorted(mass, draws, right=True).clamp_max(len(points) - 1)
        nearest = torch.minimum(space.distances(drawn), distance)  # [candidates, n]
        best = nearest.sum(1).argmin()
        chosen = torch.cat([chosen, drawn[best][None]])
        distance = nearest[best]
    return chosen


@dataclass(frozen=True, slots=True)
class _Space:
    """Points with what all distances between them are made of."""

    origin: Tensor  # [d] their mean: distances of points near the origin lose least to rounding
    x: Tensor  # [n, d] around the origin
    columns: Tensor  # [d, n] the same
    square: Tensor  # [n] ‖x_i‖²
    nothing: float  # squared distances up to this are rounding

    @classmethod
    def of(cls, points: Tensor) -> _Space:
        origin = points.mean(0)
        x = points - origin
        square = (x * x).sum(1)
        return cls(origin, x, x.T.contiguous(), square, NOTHING * float(square.mean()))

    def distances(self, of: Tensor) -> Tensor:
        """[m, n] squared distances of the points `of` [m] from all points, exactly 0 from their copies."""
        apart = torch.addmm(self.square, self.x[of], self.columns, alpha=-2).add_(self.square[of][:, None])
        return torch.threshold_(apart, self.nothing, 0.0)
