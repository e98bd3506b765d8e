from __future__ import annotations

import torch
from torch import Tensor

from attnx import Evidence, Measure, Metric

from .options import WeightedKendallOptions

PAIRS = 2**20  # of units, compared in one step


class WeightedKendall(Metric):
    """Kendall's τ with every pair of units weighted by their importance.

    τ_w = Σ_{i<j} w_i w_j sgn(x_i − x_j) sgn(y_i − y_j) / Σ_{i<j} w_i w_j, with x the explanation, y
    the reference and w from x. A tied pair counts 0 above and stays below, so a constant score gives
    0. Undefined where fewer than two units have any weight, and where a score is not finite.
    """

    needs = ("reference",)
    family = "agreement"
    measures = (Measure("weighted-tau", "up", (-1, 1)),)

    def __init__(self, options: WeightedKendallOptions) -> None:
        self.options = options

    def __call__(self, evidence: Evidence) -> Tensor:
        assert evidence.reference is not None  # needed, so given
        mask = evidence.trace.batch.mask
        x = evidence.explanation.values.double()  # [B, L]
        y = evidence.reference.values.double()  # [B, L]
        w = _hyperbolic(x, mask) if self.options.weights == "hyperbolic" else x.abs()
        defined = ((x.isfinite() & y.isfinite()) | ~mask).all(1)  # [B]
        return weighted_tau(x, y, w.masked_fill(~mask, 0.0)).masked_fill(~defined, torch.nan)


def weighted_tau(x: Tensor, y: Tensor, w: Tensor) -> Tensor:
    """[B] Shieh's τ_w of scores x and y [B, L] with weights w [B, L], 0 off the mask."""
    balance = torch.zeros_like(w[:, 0])  # [B] over ordered pairs, so twice the sum over i < j
    for some in _column_blocks(x):
        agree = _signs(x, some) * _signs(y, some)  # [B, K, L]
        balance += (w[:, some] * (agree @ w[..., None])[..., 0]).sum(1)
    before = torch.nn.functional.pad(w.cumsum(1)[:, :-1], (1, 0))  # [B, L] Σ_{i<j} w_i
    total = (w * before).sum(1)
    return (balance / 2 / total.masked_fill(total == 0, torch.nan)).clamp(-1, 1)


def _hyperbolic(x: Tensor, mask: Tensor) -> Tensor:
    """[B, L] 1/(1 + r), r the number of units with more importance, so that ties weigh the same."""
    x = x.masked_fill(~mask, -torch.inf)
    higher = torch.cat([(x[:, None] > x[:, some, None]).sum(2) for some in _column_blocks(x)], dim=1)
    return 1 / (1 + higher.to(x.dtype))


def _signs(x: Tensor, some: slice) -> Tensor:
    """[B, K, L] sgn(x_i − x_j) for some columns i and every column j."""
    return (x[:, some, None] - x[:, None]).sign()


def _column_blocks(x: Tensor) -> list[slice]:
    """The columns of [B, L] in blocks small enough to be compared with all columns at once."""
    width = max(1, PAIRS // x.numel())
    return [slice(start, start + width) for start in range(0, x.shape[1], width)]
