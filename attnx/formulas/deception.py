"""Attention on units that it is told to avoid (Pruthi et al. 2020)."""

from __future__ import annotations

import torch
from torch import Tensor


def rationale_mass(attention: Tensor, rationale: Tensor) -> Tensor:
    """[B] Σ a_i over the rationale [B, L], which is NaN where it is not known."""
    return (attention * rationale).sum(-1)


def deception_penalty(attention: Tensor, rationale: Tensor) -> Tensor:
    """[B] −log(1 − Σ a_i over the rationale); 0 where the rationale is not known.

    The mass off the rationale is summed as it is: 1 − Σ would cancel where little of it is left.
    """
    known = ~rationale.isnan().any(-1)  # [B]
    elsewhere = (attention * (1 - rationale.nan_to_num())).sum(-1)  # [B]
    penalty = -elsewhere.clamp_min(torch.finfo(attention.dtype).tiny).log()
    return penalty.masked_fill(~known, 0.0)
