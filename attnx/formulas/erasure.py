"""What stands in for a unit that is taken away: nothing, a mean, or the attention of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..types import Batch, Trace
from .chunks import equal_lengths

if TYPE_CHECKING:
    from ..protocols import Model


def attention_without(attention: Tensor, mask: Tensor, removed: Tensor) -> Tensor:
    """[B, K, L] attention [B, L] renormalised over the units [B, L] that are not in `removed` [B, K, L].

    Where those left have no weight at all, as under sparse attention, they share it equally; where
    no unit is left, there is nothing to attend to and all is NaN.
    """
    kept = mask[:, None] & ~removed  # [B, K, L]
    left = attention.double()[:, None] * kept
    left = torch.where(left.sum(-1, keepdim=True) == 0, kept.double(), left)
    return (left / left.sum(-1, keepdim=True)).to(attention.dtype)


def mean_embedding(trace: Trace) -> Tensor:
    """[B, E] the mean embedding of each example's own units, whatever its company in the batch."""
    units = trace.batch.mask.to(trace.embeddings)[..., None]  # [B, L, 1]
    return (trace.embeddings.detach() * units).sum(1) / units.sum(1).clamp_min(1)


def logits_of_kept(model: Model, batch: Batch, rows: Tensor, kept: Tensor) -> Tensor:
    """[R, C] outputs for these rows with nothing but the columns in `kept` [R, L], which has some in each."""
    lengths = kept.sum(1)  # [R]
    logits: list[Tensor] = []
    order: list[Tensor] = []
    for bucket in equal_lengths(lengths):
        columns = kept[bucket].nonzero()[:, 1].view(len(bucket), -1)  # [r, length]
        shorter = batch.keep(rows[bucket], columns)
        logits.append(model.run(shorter, model.embed(shorter)).logits)
        order.append(bucket)
    return torch.cat(logits)[torch.cat(order).argsort()]
