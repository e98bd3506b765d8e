import torch
from torch import Tensor

from attnx import Batch, Model, Trace, equal_lengths


def logits_without_each(model: Model, trace: Trace) -> Tensor:
    """[B, L, C] outputs with the unit of each column deleted; 0 off the mask and for an only unit."""
    batch, mask = trace.batch, trace.batch.mask
    rows, columns = (mask & (mask.sum(1, keepdim=True) > 1)).nonzero(as_tuple=True)  # [R], [R]
    logits = trace.logits.new_zeros(*mask.shape, trace.logits.shape[-1])  # [B, L, C]
    for bucket in equal_lengths(batch.lengths[rows]):
        shorter = without(batch, rows[bucket], columns[bucket])
        logits[rows[bucket], columns[bucket]] = model.run(shorter, model.embed(shorter)).logits
    return logits


def without(batch: Batch, rows: Tensor, columns: Tensor) -> Batch:
    """These rows, which have one length, each without one column; examples and unit indices stay."""
    length = int(batch.lengths[rows[0]])
    before = torch.arange(length - 1, device=columns.device)
    return batch.keep(rows, before + (before >= columns[:, None]))
