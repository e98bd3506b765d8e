import torch
from torch import Tensor

from attnx import Model, Trace, logits_of_kept


def logits_without_each(model: Model, trace: Trace) -> Tensor:
    """[B, L, C] outputs with the unit of each column deleted; 0 off the mask and for an only unit."""
    batch, mask = trace.batch, trace.batch.mask
    rows, columns = (mask & (mask.sum(1, keepdim=True) > 1)).nonzero(as_tuple=True)  # [R], [R]
    logits = trace.logits.new_zeros(*mask.shape, trace.logits.shape[-1])  # [B, L, C]
    if len(rows):
        place = torch.arange(mask.shape[1], device=mask.device)
        kept = (place < batch.lengths[rows, None]) & (place != columns[:, None])  # [R, L]
        logits[rows, columns] = logits_of_kept(model, batch, rows, kept)
    return logits
