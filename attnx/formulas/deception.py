"""Attention on units that it is trained to avoid (Pruthi et al. 2020)."""

from __future__ import annotations

import torch
from torch import Tensor


def rationale_mass(attention: Tensor, rationale: Tensor) -> Tensor:
    """Sum the attention on the rationale.

    Args:
        attention: attention [B, L].
        rationale: 1 on the rationale, 0 elsewhere, NaN if it is not known [B, L].

    Returns:
        Σ a_i over the rationale [B], NaN if it is not known.
    """
    return (attention * rationale).sum(-1)


def deception_penalty(attention: Tensor, rationale: Tensor) -> Tensor:
    """Compute the penalty of a deceptive model, −log(1 − Σ a_i over the rationale).

    The attention outside the rationale is summed directly, because 1 − Σ loses all digits as Σ nears 1.

    Args:
        attention: attention [B, L].
        rationale: 1 on the rationale, 0 elsewhere, NaN if it is not known [B, L].

    Returns:
        The penalty [B], 0 if the rationale is not known.
    """
    known = ~rationale.isnan().any(-1)  # [B]
    elsewhere = (attention * (1 - rationale.nan_to_num())).sum(-1)  # [B]
    penalty = -elsewhere.clamp_min(torch.finfo(attention.dtype).tiny).log()
    return penalty.masked_fill(~known, 0.0)
