"""Mixtures of three units that keep all three logits, for a decoder that is linear in attention."""

from __future__ import annotations

import math
from itertools import combinations

import torch
from torch import Tensor

from attnx.formulas import at_once

from .vertices import gain_of_share

MOST = 32  # units of which all triples are tried; of more, the least attended in each direction


def farthest_triangle(attention: Tensor, single: Tensor, logits: Tensor, among: Tensor) -> Tensor:
    """Return [B, L] the farthest mixture of three units that keeps three classes' logits [B, 3].

    `single` [B, L, 3] are the logits of single units. Up to a constant, logits of three classes are points
    in a plane, and a mixture that keeps them is a triangle of units around the model's own point. Of the
    triangles of units `among` [B, L], the farthest from `attention` [B, L] is returned; NaN if there is none.
    """
    points = (single - logits[:, None]).double()  # [B, L, 3]
    around = points[..., 1:] - points[..., :1]  # [B, L, 2] the model's own point is the origin
    return _farthest(attention.double(), around, among)


def _farthest(a: Tensor, around: Tensor, among: Tensor) -> Tensor:
    """[B, L] the mixture of the best triangle of each row, NaN where no triangle holds the origin."""
    columns, valid = _candidates(a, around, among)  # [B, M] each
    corners = torch.tensor(list(combinations(range(columns.shape[1]), 3)), device=a.device).view(-1, 3)
    found = torch.full_like(a, torch.nan)
    if not len(corners):
        return found
    for rows in torch.arange(len(a), device=a.device).split(at_once(len(corners))):
        x, weight = around[rows].gather(1, columns[rows][..., None].expand(-1, -1, 2)), a[rows]
        cross = x[:, :, None, 0] * x[:, None, :, 1] - x[:, :, None, 1] * x[:, None, :, 0]  # [R, M, M]
        i, j, k = corners.T
        areas = torch.stack([cross[:, j, k], cross[:, k, i], cross[:, i, j]], dim=-1)  # [R, T, 3]
        total = areas.sum(-1)
        holds = ((areas >= 0).all(-1) | (areas <= 0).all(-1)) & (total != 0) & valid[rows][:, corners].all(-1)
        share = areas / total.masked_fill(total == 0, 1.0)[..., None]  # [R, T, 3]
        attended = weight.gather(1, columns[rows])[:, corners]  # [R, T, 3]
        gain = gain_of_share(share.clamp(0, 1), attended).sum(-1).masked_fill(~holds, -torch.inf)
        most, best = gain.max(1)  # [R]
        at = columns[rows].gather(1, corners[best])  # [R, 3]
        mixed = torch.zeros_like(weight).scatter_add(1, at, share[torch.arange(len(rows)), best].clamp(0, 1))
        found[rows] = mixed.masked_fill(most.isneginf()[:, None], torch.nan)
    return found


def _candidates(a: Tensor, around: Tensor, among: Tensor) -> tuple[Tensor, Tensor]:
    """[B, M] columns that triangles are made of and whether each is one: all, or one for each direction."""
    if a.shape[1] <= MOST:
        return torch.arange(a.shape[1], device=a.device).expand_as(a), among
    angle = torch.atan2(around[..., 1], around[..., 0]) / (2 * math.pi) + 0.5  # [B, L] in [0, 1]
    direction = (angle * MOST).long().clamp_max(MOST - 1)
    there = (direction[:, None] == torch.arange(MOST, device=a.device)[:, None]) & among[:, None]  # [B, M, L]
    least, columns = torch.where(there, a[:, None], torch.inf).min(-1)
    return columns, least.isfinite()
