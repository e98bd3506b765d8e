from __future__ import annotations

import torch
from torch import Tensor

from attnx.formulas import column_blocks, weighted_tau
from attnx.plugin import Evidence, Measure, Metric

from .options import WeightedKendallOptions


class WeightedKendall(Metric):
    """Kendall's τ in which pairs of important units count more.

    τ_w = Σ_{i<j} w_i w_j sgn(x_i − x_j) sgn(y_i − y_j) / Σ_{i<j} w_i w_j over units i and j (words, image
    patches, ...), where x is the explanation, y the reference, and the weights w come from x. The range
    is −1 to 1; higher means better agreement. A tied pair adds 0 to the numerator and stays in the
    denominator, so a constant score gives 0. Undefined if fewer than two units have a weight above 0, and
    if a score is not finite.
    """

    needs = ("reference",)
    family = "agreement"
    sees = "scores"
    cost = "nothing but the reference: no pass through the model"
    cannot = "much about an explanation that gives most units no weight: pairs of those do not count"
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
    """Return [B, L] 1/(1 + r), r the number of units with a higher score; ties weigh the same."""
    x = x.masked_fill(~mask, -torch.inf)
    higher = torch.cat([(x[:, None] > x[:, some, None]).sum(2) for some in column_blocks(x)], dim=1)
    return 1 / (1 + higher.to(x.dtype))
