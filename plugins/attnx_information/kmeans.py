"""k-means: Lloyd's iterations from greedy k-means++ seeds.

Squared distances are ‖x‖² + ‖c‖² − 2 x·c, computed by one matrix product in the precision of the points,
after centring them. Where the result is within rounding, as between points of a distant group,
differences are taken in double precision, so that different points are never treated as copies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from attnx.formulas import at_once, product

ITERATIONS = 300
ROUNDING = 200  # a squared distance below this many roundings of ‖x‖² is computed again
EQUAL = 1e-5  # sums of squared distances that differ by a smaller share are the same
IN_CACHE = 256  # points that are taken in double precision at once
CANDIDATES = 2**18  # squared distances of candidates that are computed together, in one product
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
    centres that moved are computed again. Points that change their cluster are taken from one sum and
    added to another; iterations stop only where sums that are added up again move no centre.
    """
    points, centres = space.points, centres.double()
    there = space.around(centres)
    scores = space.scores(there)
    labels, apart = space.nearest(scores, centres)
    sums, fresh = _sums(points, labels, len(centres)), True
    for _ in range(ITERATIONS):
        sizes = labels.bincount(minlength=len(centres))  # [k]
        old, centres = centres, sums / sizes[:, None]
        empty = (sizes == 0).nonzero()[:, 0]
        if len(empty):
            far, farthest = apart.topk(len(empty))
            worth = (far > space.rounding_of_means(farthest))[:, None]
            centres[empty] = torch.where(worth, points[farthest].double(), old[empty])
            sums[empty] = 0.0  # what rounding left
        before, there = there, space.around(centres)
        moved = (there != before).any(1).nonzero()[:, 0]
        scores.index_copy_(0, moved, space.scores(there[moved]))
        was = labels
        labels, apart = space.nearest(scores, centres)
        changed = (labels != was).nonzero()[:, 0]
        if len(changed):
            some, fresh = points.index_select(0, changed).double(), False
            sums.index_add_(0, labels[changed], some).index_add_(0, was[changed], some, alpha=-1)
        elif not fresh:
            sums, fresh = _sums(points, labels, len(centres)), True
        else:
            break
    inertia = sum(
        float((some.double() - centres.index_select(0, of)).square_().sum())
        for some, of in _parts(points, labels)
    )
    return Clusters(labels, labels.bincount(minlength=len(centres)), centres, inertia)


def _sums(points: Tensor, labels: Tensor, clusters: int) -> Tensor:
    """[k, d] the sums of points [n, d] with the same label [n]."""
    sums = points.new_zeros(clusters, points.shape[1], dtype=torch.float64)
    for some, of in _parts(points, labels):
        sums.index_add_(0, of, some.double())
    return sums


def _parts(points: Tensor, labels: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    return zip(points.split(IN_CACHE), labels.split(IN_CACHE), strict=True)


def seeds(space: Space, clusters: int, generator: torch.Generator) -> Tensor:
    """Return [k] starting points, each the best of a few candidates drawn by their squared distance.

    A point is drawn with a probability proportional to its squared distance from those chosen so far; the
    best candidate leaves the smallest sum of squared distances. Candidates are drawn for several choices
    at once; about as many as could be used last time.
    """
    n = len(space.points)
    candidates = 2 + int(math.log(clusters))
    chosen = [int(torch.randint(n, (1,), generator=generator))]
    distance = space.distances(torch.tensor(chosen))[0]  # [n] from the nearest of the chosen
    drawn, used = Drawn.by(distance, candidates, space, generator), 0
    while len(chosen) < clusters:
        fit = drawn.fit(distance)[:candidates]
        if len(fit) < candidates:
            if not 0 < float(distance.sum(dtype=torch.float64)) < math.inf:
                break  # every point is chosen, or a copy of one that is; or there are no distances to draw by
            many = max(candidates, min(2 * used, CANDIDATES // n))
            drawn, used = Drawn.by(distance, many, space, generator), 0
            continue
        nearest = torch.minimum(drawn.apart[fit], distance)  # [candidates, n]
        best = _first_of_least(nearest.sum(1, dtype=torch.float64))
        chosen.append(int(drawn.points[fit[best]]))
        distance = nearest[best]
        drawn, used = drawn.after(int(fit[-1])), used + candidates
    return torch.tensor(chosen)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Points drawn by their squared distances D from those chosen at that time.

    D only shrinks. A point that was drawn by D and is kept with probability D′/D was drawn by D′.
    """

    points: Tensor  # [m]
    level: Tensor  # [m] uniform between 0 and the D that each was drawn by
    apart: Tensor  # [m, n] squared distances from all points

    @classmethod
    def by(cls, distance: Tensor, many: int, space: Space, generator: torch.Generator) -> Drawn:
        mass = distance.cumsum(0, dtype=torch.float64)
        place, level = torch.rand(2, many, generator=generator, dtype=torch.float64)
        points = torch.searchsorted(mass, place * mass[-1], right=True).clamp_max_(len(mass) - 1)
        return cls(points, level * distance[points], space.distances(points))

    def fit(self, distance: Tensor) -> Tensor:
        """The numbers of those that are draws by the squared distances [n] of now."""
        return (self.level < distance[self.points]).nonzero()[:, 0]

    def after(self, last: int) -> Drawn:
        return Drawn(self.points[last + 1 :], self.level[last + 1 :], self.apart[last + 1 :])


@dataclass(frozen=True, slots=True)
class Space:
    """Points, with everything that distances between them are computed from."""

    points: Tensor  # [n, d]
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
        return cls(points, origin, x, square, near)

    def around(self, places: Tensor) -> Tensor:
        """Places [m, d] around the origin, in the precision of the points."""
        return (places - self.origin).to(self.x.dtype)

    def scores(self, there: Tensor) -> Tensor:
        """[m, n] ‖x − c‖² − ‖x‖² of centres [m, d] around the origin."""
        return product(-2 * there, self.x).add_((there * there).sum(1)[:, None])

    def distances(self, of: Tensor) -> Tensor:
        """[m, n] squared distances of the points `of` [m] from all points, exactly 0 from their copies."""
        apart = product(-2 * self.x[of], self.x).add_(self.square).add_(self.square[of][:, None])
        apart.scatter_(1, of[:, None], torch.inf)  # a point and itself: exactly 0
        if (apart - self.near).amin() <= 0:  # rarely: where they are is asked only then
            row, unsure = (apart <= self.near).nonzero(as_tuple=True)
            apart[row, unsure] = _apart(self.points, unsure, self.points, of[row]).to(apart.dtype)
        return apart.scatter_(1, of[:, None], 0.0)

    def nearest(self, scores: Tensor, centres: Tensor) -> tuple[Tensor, Tensor]:
        """[n] the nearest of the centres [k, d] and its squared distance, by scores ‖c‖² − 2 x·c [k, n]."""
        least, labels = _least(scores)
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
        most = len(self.points) * torch.finfo(torch.float64).eps
        return (most * self.points[of].double()).square().sum(1)


def _least(scores: Tensor) -> tuple[Tensor, Tensor]:
    """[n] the least score of each column [k, n] and the first row that has it, faster than by `min`."""
    least = scores.amin(0)
    back = torch.arange(len(scores) - 1, -1, -1, dtype=scores.dtype, device=scores.device)
    has = torch.eq(scores, least, out=torch.empty_like(scores))  # 1 or 0
    return least, len(scores) - 1 - has.mul_(back[:, None]).amax(0).long()


def _first_of_least(sums: Tensor) -> Tensor:
    """The first of the sums [m] that are least up to rounding: a far pair leaves as much by either point."""
    return (sums <= sums.min() * (1 + EQUAL)).int().argmax()


def _apart(points: Tensor, i: Tensor, others: Tensor, j: Tensor) -> Tensor:
    """[p] ‖x_i − y_j‖² of pairs i, j [p] of points [n, d] and others [k, d], by their differences."""
    pairs = torch.arange(len(i), device=points.device).split(at_once(points.shape[1]))
    return torch.cat(
        [(points[i[some]].double() - others[j[some]].double()).square().sum(1) for some in pairs]
    )
