from typing import Literal

import torch
from torch import Tensor

from attnx import Model, Trace

from .buckets import equal_lengths


def logits_replacing_each(model: Model, trace: Trace, baseline: Literal["zero", "mean"]) -> Tensor:
    """[B, L, C] outputs with the embedding of each column replaced by a baseline; 0 off the mask."""
    batch, mask = trace.batch, trace.batch.mask
    rows, columns = mask.nonzero(as_tuple=True)  # [R], [R]
    instead = _mean(trace) if baseline == "mean" else torch.zeros_like(trace.embeddings[:, 0])  # [B, E]
    logits = trace.logits.new_zeros(*mask.shape, trace.logits.shape[-1])  # [B, L, C]
    for bucket in equal_lengths(batch.lengths[rows]):
        at, column = rows[bucket], columns[bucket]
        repeated = batch.take(at)
        embeddings = trace.embeddings[at, : repeated.mask.shape[1]]  # [R, length, E], a copy
        embeddings[torch.arange(len(at), device=at.device), column] = instead[at]
        logits[at, column] = model.run(repeated, embeddings).logits
    return logits


def _mean(trace: Trace) -> Tensor:
    """[B, E] the mean embedding of each example's own units, whatever its company in the batch."""
    units = trace.batch.mask.to(trace.embeddings)[..., None]  # [B, L, 1]
    return (trace.embeddings * units).sum(1) / units.sum(1).clamp_min(1)
