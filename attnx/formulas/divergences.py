"""The two distances between distributions that every metric shares."""

from __future__ import annotations

from torch import Tensor
from torch.special import xlogy


def js_divergence(p: Tensor, q: Tensor) -> Tensor:
    """Jensen–Shannon divergence over the last dimension in nats, between 0 and ln 2.

    scipy's `jensenshannon` is its square root.
    """
    m = (p + q) / 2
    return ((xlogy(p, p) + xlogy(q, q)) / 2 - xlogy(m, m)).sum(-1).clamp_min(0)


def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """Total variation distance over the last dimension, ½·Σ|p − q|, between 0 and 1."""
    return (p - q).abs().sum(-1) / 2
