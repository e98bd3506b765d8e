"""The order in which an explanation puts the units of an example."""

from __future__ import annotations

import torch
from torch import Tensor

from ..types import Evidence


def ranked(evidence: Evidence) -> Tensor:
    """[B, L] columns from the explanation's highest value down, equal values at random, masked ones last.

    The draws that part equal values belong to units: neither padding nor company changes them.
    """
    mask = evidence.trace.batch.mask
    draws = evidence.random.to("ties").uniform(evidence.trace.batch)[:, 0]  # [B, L]
    shuffled = draws.masked_fill(~mask, torch.inf).argsort(1)
    values = evidence.explanation.values.masked_fill(~mask, -torch.inf).gather(1, shuffled)
    return shuffled.gather(1, values.argsort(dim=1, descending=True, stable=True))
