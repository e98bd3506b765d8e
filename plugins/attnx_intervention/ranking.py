"""Which units an explanation puts first, and a random one to compare with.

The draws belong to units, so that neither padding nor company changes them.
"""

import torch
from torch import Tensor

from attnx import Evidence


def ranked(evidence: Evidence) -> Tensor:
    """[B, L] columns from the highest value down, equal values in random order, masked ones last."""
    mask = evidence.trace.batch.mask
    draw = evidence.random.uniform(evidence.trace.batch)[:, 0]  # [B, L]
    shuffled = draw.masked_fill(~mask, torch.inf).argsort(1)
    values = evidence.explanation.values.masked_fill(~mask, -torch.inf).gather(1, shuffled)
    return shuffled.gather(1, values.argsort(dim=1, descending=True, stable=True))


def top_and_other(evidence: Evidence) -> Tensor:
    """[B, 2] the column i* of the highest value, and r drawn uniformly from the other units.

    An example of one unit has no other: r is any column.
    """
    top = ranked(evidence)[:, :1]  # [B, 1]
    draw = evidence.random.uniform(evidence.trace.batch, draws=2)[:, 1]  # [B, L]
    among = draw.masked_fill(~evidence.trace.batch.mask, -1.0).scatter(1, top, -1.0)
    return torch.cat([top, among.argmax(1, keepdim=True)], dim=1)
