"""The exact attention farthest from the model's that keeps the log-odds within bounds."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.special import xlogy

from attnx.formulas import at_once


def farthest(attention: Tensor, odds: Tensor, low: Tensor, high: Tensor, among: Tensor) -> Tensor:
    """Return [B, L] the α with the largest JS(α, attention) with low ≤ Σ_i α_i·odds_i ≤ high, bounds [B].

    Such α form a polytope: the simplex over the units `among` [B, L], cut by a slab. JS is convex in α,
    so its maximum lies at a vertex, and a vertex has at most two units: one inside the slab, or a mixture
    of two, on either side of a border, that lies on it. All are tried. NaN if there is none.
    """
    a = attention.double()  # [B, L]
    inside = among & (odds >= low[:, None]) & (odds <= high[:, None])
    gain, unit = gain_of_share(torch.ones_like(a), a).masked_fill(~inside, -torch.inf).max(1)
    best = _Mixture(gain, unit, unit, torch.ones_like(gain))
    for border in (low, high):
        best = _touching(a, odds, border, among, best)
    found = torch.zeros_like(a)
    found.scatter_add_(1, best.first[:, None], best.share[:, None])
    found.scatter_add_(1, best.second[:, None], 1 - best.share[:, None])
    return found.masked_fill(best.gain.isneginf()[:, None], torch.nan)


class _Mixture(NamedTuple):
    """A mixture of two units for every example."""

    gain: Tensor  # [B], −inf where there is none
    first: Tensor  # [B] column
    second: Tensor  # [B] column
    share: Tensor  # [B] of the first


def _touching(a: Tensor, odds: Tensor, border: Tensor, among: Tensor, best: _Mixture) -> _Mixture:
    """Return the best of `best` and all mixtures on the border of a unit below it and a unit above it."""
    above = among & (odds > border[:, None])
    below = (among & (odds < border[:, None])).nonzero()  # [P, 2] row and column
    for part in below.split(at_once(a.shape[1])):
        pair, second = above[part[:, 0]].nonzero(as_tuple=True)  # [Q]
        row, first = part[pair].unbind(1)  # [Q]
        over, under = odds[row, second] - border[row], border[row] - odds[row, first]
        share = over / (over + under)
        gain = gain_of_share(share, a[row, first]) + gain_of_share(1 - share, a[row, second])
        most = best.gain.scatter_reduce(0, row, gain, "amax")  # [B]
        won = most > best.gain
        wins = ((gain == most[row]) & won[row]).nonzero()[:, 0]
        winner = torch.zeros_like(best.first).scatter(0, row[wins], wins)  # [B] any of equal ones
        found = (most, first[winner], second[winner], share[winner]) if len(wins) else best
        best = _Mixture(*(torch.where(won, new, old) for new, old in zip(found, best, strict=True)))
    return best


def gain_of_share(share: Tensor, attention: Tensor) -> Tensor:
    """Return what a unit with `share` adds to JS, compared with the same unit with share 0."""
    half = attention / 2
    middle = share / 2 + half
    return xlogy(share, share) / 2 - xlogy(middle, middle) + xlogy(half, half)
