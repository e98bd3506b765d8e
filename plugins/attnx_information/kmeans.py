"""k-means: Lloyd's iterations from greedy k-means++ seeds.

Squared distances are ‖x‖² + ‖c‖² − 2 x·c, computed by one matrix product in the precision of the points,
after centring them. Where the result is within rounding, as between points of a distant group,
differences are taken in double precision, so that different points are never treated as copies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from attnx.formulas import at_once, product

ITERATIONS = 300
ROUNDING = 200  # a squared distance below this many roundings of ‖x‖² is computed again
EQUAL = 1e-5  # sums of squared distances that differ by a smaller share are the same
IN_CACHE = 256  # points whose differences are made at once
MIDDLE = 100  # points whose median is the origin: an outlier moves it no further than any other point


@dataclass(frozen=True, slots=True)
class Clusters:
    """A partition of points."""

    labels: Tensor  # [n]
    sizes: Tensor  # [k]
    centres: Tensor  # [k, d]
    inertia: float  # Σ_i ‖x_i − c_{label_i}‖²


def kmeans(space: Space, clusters: int, generator: torch.Generator) -> Clusters:
    """Partition points [n, d] into that many clusters, or as many as there are distinct points."""
    return lloyd(space, space.points[seeds(space, clusters, generator)])


def lloyd(space: Space, centres: Tensor) -> Clusters:
    """Return the partition of points [n, d] at which Lloyd's iterations from centres [k, d] stop.

    A centre without points restarts at the point farthest from its own centre. Only distances from
    centres that moved are computed again.
    """
    points, centres = space.points, centres.double()
    scores = space.x.new_empty(len(centres), 0)  # [k, n] ‖x − c‖² − ‖x‖²
    moved = torch.arange(len(centres), device=points.device)
    labels = torch.full_like(space.square, -1, dtype=torch.long)  # [n]
    for _ in range(ITERATIONS):
        there = (centres[moved] - space.origin).to(space.x.dtype)
        fresh = product(-2 * there, space.x).add_((there * there).sum(1)[:, None])
        scores = fresh if len(moved) == len(centres) else scores.index_copy_(0, moved, fresh)
        before = labels
        labels, apart = space.nearest(scores, centres)
        if torch.equal(labels, before):
            break
        old = centres
        sizes = labels.bincount(minlength=len(old))  # [k]
        centres = torch.zeros_like(old).index_add_(0, labels, points).div_(sizes[:, None])
        empty = (sizes == 0).nonzero()[:, 0]
        if len(empty):
            far, farthest = apart.topk(len(empty))
            worth = (far > space.rounding_of_means(farthest))[:, None]
            centres[empty] = torch.where(worth, points[farthest], old[empty])
        moved = (centres != old).any(1).nonzero()[:, 0]
    parts = zip(points.split(IN_CACHE), labels.split(IN_CACHE), strict=True)
    inertia = sum(float((some - centres[of]).square_().sum()) for some, of in parts)
    return Clusters(labels, labels.bincount(minlength=len(centres)), centres, inertia)


def seeds(space: Space, clusters: int, generator: torch.Generator) -> Tensor:
    """Return [k] starting points, each the best of a few candidates drawn by their squared distance.

    A point is drawn with a probability proportional to its squared distance from those chosen so far; the
    best candidate leaves the smallest sum of squared distances.
    """
    n = len(space.points)
    candidates = 2 + int(math.log(clusters))
    chosen = torch.randint(n, (1,), generator=generator)
    distance = space.distances(chosen)[0]  # [n] from the nearest of the chosen
    while len(chosen) < clusters:
        mass = distance.cumsum(0, dtype=torch.float64)
        if mass[-1] == 0:  # every point is chosen, or a copy of one that is
            break
        draws = torch.rand(candidates, generator=generator, dtype=torch.float64) * mass[-1]
        drawn = torch.searchsorted(mass, draws, right=True).clamp_max(n - 1)
        nearest = torch.minimum(space.distances(drawn), distance)  # [candidates, n]
        best = _first_of_least(nearest.sum(1, dtype=torch.float64))
        chosen = torch.cat([chosen, drawn[best][None]])
        distance = nearest[best]
    return chosen


@dataclass(frozen=True, slots=True)
class Space:
    """Points, with everything that distances between them are computed from."""

    points: Tensor  # [n, d] in double precision
    origin: Tensor  # [d] their median: near the origin distances lose least to rounding
    x: Tensor  # [n, d] around the origin, in the precision of the points
    square: Tensor  # [n] ‖x_i‖²
    near: Tensor  # [n] squared distances up to this may be rounding

    @classmethod
    def of(cls, points: Tensor) -> Space:
        some = points[:: max(1, len(points) // MIDDLE)]
        origin = some.median(0).values
        x = points - origin
        square = (x * x).sum(1)
        near = ROUNDING * torch.finfo(points.dtype).eps * square
        return cls(points.double(), origin, x, square, near)

    def distances(self, of: Tensor) -> Tensor:
        """[m, n] squared distances of the points `of` [m] from all points, exactly 0 from their copies."""
        apart = product(-2 * self.x[of], self.x).add_(self.square).add_(self.square[of][:, None])
        apart.scatter_(1, of[:, None], torch.inf)  # a point and itself: exactly 0
        row, unsure = (apart <= self.near).nonzero(as_tuple=True)
        if len(row):
            apart[row, unsure] = _apart(self.points, unsure, self.points, of[row]).to(apart.dtype)
        return apart.scatter_(1, of[:, None], 0.0)

    def nearest(self, scores: Tensor, centres: Tensor) -> tuple[Tensor, Tensor]:
        """[n] the nearest of the centres [k, d] and its squared distance, by scores ‖c‖² − 2 x·c [k, n]."""
        least, labels = scores.min(0)
        apart = self.square + least
        unsure = (apart <= self.near).nonzero()[:, 0]  # [u]
        if not len(unsure):
            return labels, apart
        rivals = scores[:, unsure] <= (least + 2 * self.near)[unsure]  # [k, u]
        centre, column = rivals.nonzero(as_tuple=True)
        between = torch.full(rivals.shape, torch.inf, dtype=torch.float64, device=scores.device)
        between[centre, column] = _apart(self.points, unsure[column], centres, centre)
        nearest, labels[unsure] = between.min(0)
        return labels, apart.double().index_copy(0, unsure, nearest)

    def rounding_of_means(self, of: Tensor) -> Tensor:
        """Return [m] the squared distance that a mean of copies of the points `of` [m] may have from them."""
        most = len(self.points) * torch.finfo(self.points.dtype).eps
        return (most * self.points[of]).square().sum(1)


def _first_of_least(sums: Tensor) -> Tensor:
    """The first of the sums [m] that are least up to rounding: a far pair leaves as much by either point."""
    return (sums <= sums.min() * (1 + EQUAL)).int().argmax()


def _apart(points: Tensor, i: Tensor, others: Tensor, j: Tensor) -> Tensor:
    """[p] ‖x_i − y_j‖² of pairs i, j [p] of points [n, d] and others [k, d], by their differences."""
    pairs = torch.arange(len(i), device=points.device).split(at_once(points.shape[1]))
    return torch.cat([(points[i[some]] - others[j[some]]).square().sum(1) for some in pairs])
