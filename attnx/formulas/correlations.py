"""Correlations over the units of a mask."""

from __future__ import annotations

import torch
from torch import Tensor

from .chunks import at_once


def pearson(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """Compute Pearson's correlation of two scores over the mask.

    Args:
        x: scores [B, L].
        y: scores [B, L].
        mask: the units that count [B, L].

    Returns:
        The correlation [B]; NaN for fewer than two units, or if a score is constant or not finite.
    """
    n = mask.sum(1, keepdim=True)  # [B, 1]
    defined = ((x.isfinite() & y.isfinite()) | ~mask).all(1)  # [B]
    x, y = (_centred(values.double(), mask, n) for values in (x, y))
    spread = (x.square().sum(1) * y.square().sum(1)).sqrt()  # [B]
    r = (x * y).sum(1) / spread.masked_fill(spread == 0, torch.nan)
    return r.masked_fill((n[:, 0] < 2) | ~defined, torch.nan).clamp(-1, 1)


def average_ranks(values: Tensor, mask: Tensor) -> Tensor:
    """Rank scores over the mask.

    Args:
        values: scores [B, L].
        mask: the units that count [B, L].

    Returns:
        Ranks [B, L] from 1 for the smallest; equal values share the mean of their ranks. 0 outside the mask,
        NaN for a score that is not finite.
    """
    v = values.double().masked_fill(~mask, torch.inf)
    ordered = v.sort(1).values.contiguous()
    below = torch.searchsorted(ordered, v.contiguous(), right=False)  # [B, L] units that are smaller
    up_to = torch.searchsorted(ordered, v.contiguous(), right=True)  # [B, L] smaller or equal
    ranks = ((below + 1 + up_to).double() / 2).masked_fill(~mask, 0.0)
    return ranks.masked_fill(mask & ~values.isfinite(), torch.nan)


def _centred(values: Tensor, mask: Tensor, n: Tensor) -> Tensor:
    """[B, L] values less their mean over the mask, 0 off it; a constant score becomes exactly 0."""
    values = values.masked_fill(~mask, 0.0)
    centred = (values - values.sum(1, keepdim=True) / n.clamp_min(1)).masked_fill(~mask, 0.0)
    low = values.masked_fill(~mask, torch.inf).amin(1, keepdim=True)
    high = values.masked_fill(~mask, -torch.inf).amax(1, keepdim=True)
    return centred.masked_fill(low == high, 0.0)


def weighted_tau(x: Tensor, y: Tensor, w: Tensor) -> Tensor:
    """Compute Shieh's weighted rank correlation τ_w.

    Args:
        x: scores [B, L].
        y: scores [B, L].
        w: the weight of every unit [B, L], 0 outside the mask.

    Returns:
        The correlation [B], between −1 and 1.
    """
    balance = w.new_zeros(len(w))  # [B] over ordered pairs, so twice the sum over i < j
    for some in column_blocks(x):
        agree = _signs(x, some) * _signs(y, some)  # [B, K, L]
        balance += (w[:, some] * (agree @ w[..., None])[..., 0]).sum(1)
    before = torch.nn.functional.pad(w.cumsum(1)[:, :-1], (1, 0))  # [B, L] Σ_{i<j} w_i
    total = (w * before).sum(1)
    return (balance / 2 / total.masked_fill(total == 0, torch.nan)).clamp(-1, 1)


def _signs(x: Tensor, some: slice) -> Tensor:
    """[B, K, L] sgn(x_i − x_j) for some columns i and every column j."""
    return (x[:, some, None] - x[:, None]).sign()


def column_blocks(x: Tensor) -> list[slice]:
    """Cut columns into blocks that are small enough to be compared with all columns at once.

    Args:
        x: scores [B, L].

    Returns:
        The blocks as slices of the columns.
    """
    width = at_once(x.numel())
    return [slice(start, start + width) for start in range(0, x.shape[1], width)]
