"""Pearson's correlation over the units of a mask, and the ranks that make it Spearman's."""

import torch
from torch import Tensor


def pearson(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """[B] correlation of scores x and y [B, L].

    NaN for fewer than two units, and where a score is constant or not finite.
    """
    n = mask.sum(1, keepdim=True)  # [B, 1]
    defined = ((x.isfinite() & y.isfinite()) | ~mask).all(1)  # [B]
    x, y = (_centred(values.double(), mask, n) for values in (x, y))
    spread = (x.square().sum(1) * y.square().sum(1)).sqrt()  # [B]
    r = (x * y).sum(1) / spread.masked_fill(spread == 0, torch.nan)
    return r.masked_fill((n[:, 0] < 2) | ~defined, torch.nan).clamp(-1, 1)


def average_ranks(values: Tensor, mask: Tensor) -> Tensor:
    """[B, L] ranks from 1 over the mask, ties sharing the mean of theirs; 0 off it, NaN if not finite."""
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
