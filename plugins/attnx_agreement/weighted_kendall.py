from __future__ import annotations

import torch
from attnx.plugin import Evidence, Measure, Metric
from torch import Tensor

from attnx.formulas import column_blocks, weighted_tau

from .options import WeightedKendallOptions


class WeightedKendall(Metric):
    """Kendall's τ with every pair of units weighted by their importance.

    τ_w = Σ_{i<j} w_i w_j sgn(x_i − x_j) sgn(y_i − y_j) / Σ_{i<j} w_i w_j, with x the explanation, y
    the reference and w from x. A tied pair counts 0 above and stays below, so a constant score gives
    0. Undefined where fewer than two units have any weight, and where a score is not finite.
    """

    needs = ("reference",)
    family = "agreement"
    sees = "scores"
    measures = (Measure("weighted-tau", "up", (-1, 1)),)

    def __init__(self, options: WeightedKendallOptions) -> None:
        self.options = options

    def __call__(self, evidence: Evidence) -> Tensor:
        mask = evidence.trace.batch.mask
        x = evidence.explanation.values.double()  # [B, L]
        y = evidence.reference.values.double()  # [B, L]
        w = _hyperbolic(x, mask) if self.options.weights == "hyperbolic" else x.abs()
        defined = ((x.isfinite() & y.isfinite()) | ~mask).all(1)  # [B]
        return weighted_tau(x, y, w.masked_fill(~mask, 0.0)).masked_fill(~defined, torch.nan)


def _hyperbolic(x: Tensor, mask: Tensor) -> Tensor:
    """[B, L] 1/(1 + r), r the number of units with more importance, so that ties weigh the same."""
    x = x.masked_fill(~mask, -torch.inf)
    higher = torch.cat([(x[:, None] > x[:, some, None]).sum(2) for some in column_blocks(x)], dim=1)
    return 1 / (1 + higher.to(x.dtype))
