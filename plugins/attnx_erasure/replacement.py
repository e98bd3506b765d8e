from typing import Literal

import torch
from torch import Tensor

from attnx.formulas import equal_lengths, mean_embedding
from attnx.plugin import Model, Trace


def logits_replacing_each(model: Model, trace: Trace, baseline: Literal["zero", "mean"]) -> Tensor:
    """Return [B, L, C] logits with the embedding of each column replaced by a baseline; 0 off the mask."""
    batch, mask = trace.batch, trace.batch.mask
    rows, columns = mask.nonzero(as_tuple=True)  # [R], [R]
    mean = mean_embedding(trace)  # [B, E]
    instead = mean if baseline == "mean" else torch.zeros_like(mean)
    logits = trace.logits.new_zeros(*mask.shape, trace.logits.shape[-1])  # [B, L, C]
    for bucket in equal_lengths(batch.lengths[rows]):
        at, column = rows[bucket], columns[bucket]
        repeated = batch.take(at)
        embeddings = trace.embeddings[at, : repeated.mask.shape[1]]  # [R, length, E], a copy
        embeddings[torch.arange(len(at), device=at.device), column] = instead[at]
        logits[at, column] = model.run(repeated, embeddings).logits
    return logits
