"""The two distances between distributions that every metric shares."""

from __future__ import annotations

from torch import Tensor
from torch.special import xlogy


def js_divergence(p: Tensor, q: Tensor) -> Tensor:
    """Compute the Jensen–Shannon divergence of two distributions over the last dimension.

    scipy's `jensenshannon` is its square root.

    Args:
        p: probabilities [..., C].
        q: probabilities [..., C].

    Returns:
        The divergence in nats [...], between 0 and ln 2.
    """
    m = (p + q) / 2
    return ((xlogy(p, p) + xlogy(q, q)) / 2 - xlogy(m, m)).sum(-1).clamp_min(0)


def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """Compute the total variation distance ½·Σ|p − q| over the last dimension.

    Args:
        p: probabilities [..., C].
        q: probabilities [..., C].

    Returns:
        The distance [...], between 0 and 1.
    """
    return (p - q).abs().sum(-1) / 2
