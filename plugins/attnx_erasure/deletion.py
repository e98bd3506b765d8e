import torch
from torch import Tensor

from attnx.formulas import at_once, logits_of_kept
from attnx.plugin import Model, Trace


def logits_without_each(model: Model, trace: Trace) -> Tensor:
    """Return [B, L, C] logits with the unit of each column deleted; 0 off the mask and for a single unit."""
    batch, mask = trace.batch, trace.batch.mask
    rows, columns = (mask & (mask.sum(1, keepdim=True) > 1)).nonzero(as_tuple=True)  # [R], [R]
    logits = trace.logits.new_zeros(*mask.shape, trace.logits.shape[-1])  # [B, L, C]
    place = torch.arange(mask.shape[1], device=mask.device)
    width = at_once(mask.shape[1])
    for start in range(0, len(rows), width):  # a long text in several parts
        row, column = rows[start : start + width], columns[start : start + width]  # [r] each
        kept = (place < batch.lengths[row, None]) & (place != column[:, None])  # [r, L]
        logits[row, column] = logits_of_kept(model, batch, row, kept)
    return logits
