"""Scores as shares of their whole."""

from __future__ import annotations

import torch
from torch import Tensor


def shares(values: Tensor) -> Tensor:
    """Divide the size of every score by the sum of sizes, |v| / Σ|v|.

    Args:
        values: scores [B, L], 0 outside the mask.

    Returns:
        Shares [B, L] in double precision; NaN if all scores of an example are 0.
    """
    size = values.double().abs()
    total = size.sum(1, keepdim=True)
    return size / total.masked_fill(total == 0, torch.nan)
