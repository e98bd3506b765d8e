"""Random subsets of units: what an explanation says about them, and what deleting them does."""

from __future__ import annotations

import torch
from torch import Tensor

from attnx.formulas import logits_of_kept
from attnx.plugin import Evidence

from .options import SubsetOptions


def sums_and_effects(evidence: Evidence, options: SubsetOptions) -> tuple[Tensor, Tensor]:
    """Return [B, K] Σ_S e and [B, K] p − p(without S) of the explained class, for K random subsets S.
    A subset has ⌈share·n⌉ of the n units, and at least one unit stays. Subsets belong to the example, so
    all explanations are tested on the same ones, and each is run once. NaN for examples with fewer than
    two units.
    """
    batch, target = evidence.trace.batch, evidence.explanation.target
    subsets = _subsets(evidence, options)  # [B, K, L]
    several = batch.mask.sum(1) > 1  # [B]
    used = torch.arange(batch.mask.shape[1], device=batch.mask.device) < batch.lengths[:, None]  # [B, L]
    rows = several.nonzero()[:, 0].repeat_interleave(options.subsets)  # [R]
    p = evidence.trace.logits.double().softmax(-1).gather(1, target[:, None])  # [B, 1]
    effects = torch.full(subsets.shape[:2], torch.nan, dtype=torch.float64, device=p.device)
    if len(rows):
        kept = used[rows] & ~subsets[several].flatten(0, 1)  # [R, L]
        q = logits_of_kept(evidence.model, batch, rows, kept).double().softmax(-1)  # [R, C]
        without = q.gather(1, target[rows, None]).view(-1, options.subsets)
        effects[several] = p[several] - without
    sums = (subsets * evidence.explanation.values.double()[:, None]).sum(2)  # [B, K]
    return sums, effects


def _subsets(evidence: Evidence, options: SubsetOptions) -> Tensor:
    """[B, K, L] random sets of units."""
    batch = evidence.trace.batch
    draws = evidence.random.to("subsets").uniform(batch, options.subsets)  # [B, K, L]
    units = batch.mask.sum(1)  # [B]
    size = (units * options.share / 100 - 1e-9).ceil().clamp_min(1).minimum(units - 1)  # [B]
    place = draws.masked_fill(~batch.mask[:, None], torch.inf).argsort(2).argsort(2)
    return (place < size[:, None, None]) & batch.mask[:, None]
