"""Embeddings with random coordinates set to 0, more of them where the keeping probability is low."""

from __future__ import annotations

import torch
from torch import Tensor

from attnx.plugin import Evidence

from .options import SoftErasureOptions

NO_SUPPORT = 0.01  # p(x) − p(all zero) below which there is nothing to measure


def retention(scores: Tensor, mask: Tensor, share: float) -> Tensor:
    """Return [B, L] q_i in 0..1 that sum to share·n over the n units on the mask, as proportional as can be.

    q = min(1, c·e⁺), where e⁺ are the scores above 0 and c is such that the sum is right. If all units with a
    score above 0 get 1 and more is to be given out, the others share it equally. Scores of a larger sum or
    mean so get no more than others.
    """
    positive = scores.double().clamp_min(0).masked_fill(~mask, 0.0)  # [B, L]
    wanted = share * mask.sum(1, keepdim=True).double()  # [B, 1]
    full = torch.zeros_like(mask)  # [B, L] units whose q is 1
    for _ in range(mask.shape[1]):  # a unit above 1 is cut to 1, and what was cut goes to the others
        left, rest = wanted - full.sum(1, keepdim=True), positive.masked_fill(full, 0.0)
        total = rest.sum(1, keepdim=True)
        q = rest * (left / total.masked_fill(total == 0, 1.0))
        over = (q >= 1) & ~full
        if not over.any():
            break
        full |= over
    q = torch.where(full, 1.0, q)
    remaining = (wanted - q.sum(1, keepdim=True)).clamp_min(0)
    none = mask & (positive == 0)
    return q + none * remaining / none.sum(1, keepdim=True).clamp_min(1)


def mean_falls(evidence: Evidence, options: SoftErasureOptions, *, keep_top: bool) -> tuple[Tensor, Tensor]:
    """Return [B] the mean of max(0, p − p′) over shares and draws, and [B] max(0, p − p(all zero)).

    p′ is the probability of the explained class if every coordinate of unit i's embedding is kept with
    probability q_i, or 1 − q_i if the top is not kept, and else 0. The draws belong to the examples.
    """
    trace, target = evidence.trace, evidence.explanation.target
    batch, embeddings = trace.batch, trace.embeddings  # [B, L, E]
    units = batch.mask[..., None]  # [B, L, 1]

    def fall(kept: Tensor) -> Tensor:
        """[B] of a mask of coordinates [B, L, E]; columns that are not units stay."""
        changed = torch.where(units & ~kept, 0.0, embeddings)
        q = evidence.model.run(batch, changed).logits.double().softmax(-1)
        return (p - q.gather(1, target[:, None])[:, 0]).clamp_min(0)

    p = trace.logits.double().softmax(-1).gather(1, target[:, None])[:, 0]  # [B]
    falls = torch.zeros_like(p)
    for draw in range(options.draws):
        uniform = evidence.random.to(f"soft erasure {draw}").uniform(batch, embeddings.shape[2])  # [B, E, L]
        for percent in options.retained:
            q = retention(evidence.explanation.values, batch.mask, percent / 100)  # [B, L]
            kept = uniform < (q if keep_top else 1 - q)[:, None]
            falls += fall(kept.transpose(1, 2))
    whole = fall(torch.zeros_like(embeddings, dtype=torch.bool))
    return falls / (options.draws * len(options.retained)), whole
