import torch
from torch import Tensor

from attnx import Batch, Model, Trace

from .buckets import equal_lengths


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
    kept = before + (before >= columns[:, None])  # [R, length − 1]
    at = (rows[:, None], kept)
    return Batch(
        examples=tuple(batch.examples[row] for row in rows.tolist()),
        inputs=batch.inputs[at],
        mask=batch.mask[at],
        unit_index=batch.unit_index[at],
        lengths=batch.lengths[rows] - 1,
        labels=batch.labels[rows],
        rationale=batch.rationale[at],
        query=None if batch.query is None else batch.query[rows],
    )
