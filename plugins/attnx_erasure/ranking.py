import torch
from torch import Tensor

from attnx import Evidence


def places(evidence: Evidence) -> Tensor:
    """[B, L] the rank of each unit by the explanation, 0 the highest; masked columns rank last.

    Equal values rank in an order drawn for the units of the example, whatever its company.
    """
    mask = evidence.trace.batch.mask
    draw = evidence.random.uniform(evidence.trace.batch)[:, 0]  # [B, L]
    shuffled = draw.masked_fill(~mask, torch.inf).argsort(1)
    values = evidence.explanation.values.masked_fill(~mask, -torch.inf).gather(1, shuffled)
    order = shuffled.gather(1, values.argsort(dim=1, descending=True, stable=True))
    return order.argsort(1)
