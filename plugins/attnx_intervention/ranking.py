"""The unit with the highest score, and a random one to compare with."""

import torch
from torch import Tensor

from attnx.formulas import ranked
from attnx.plugin import Evidence


def top_and_other(evidence: Evidence) -> Tensor:
    """Return [B, 2] the column i* of the highest value, and r drawn uniformly from the other units.

    For an example with one unit, r is any column.
    """
    top = ranked(evidence)[:, :1]  # [B, 1]
    draw = evidence.random.to("other unit").uniform(evidence.trace.batch)[:, 0]  # [B, L]
    among = draw.masked_fill(~evidence.trace.batch.mask, -1.0).scatter(1, top, -1.0)
    return torch.cat([top, among.argmax(1, keepdim=True)], dim=1)
