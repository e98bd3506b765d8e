"""Scores as shares of their whole."""

from __future__ import annotations

import torch
from torch import Tensor


def shares(values: Tensor) -> Tensor:
    """[B, L] |v| / Σ|v| in double precision, of values that are 0 off the mask; NaN where all are 0."""
    size = values.double().abs()
    total = size.sum(1, keepdim=True)
    return size / total.masked_fill(total == 0, torch.nan)
