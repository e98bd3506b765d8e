import math

import torch
from torch import Tensor

from attnx.formulas import shares
from attnx.plugin import Evidence, Measure, Metric

from .options import MassOptions

ROUNDING = 1e-9  # of the mass: a sum that misses it by rounding reaches it


class Mass(Metric):
    """Number of units that hold 80 % of the explanation's total, the largest first.

    The smallest k with Σ of the k largest α_j ≥ mass, where α_j is the share of unit j (a word, an image
    patch, ...) in the absolute scores; `share` divides it by the number of units. Neither a small nor a
    large number is better. Undefined if all scores are 0.
    """

    family = "shape"
    sees = "scores"
    cost = "nothing: no pass through the model"
    cannot = "whether the explanation is right: few units may be the wrong ones"
    measures = (Measure("units", "none", (0, math.inf)), Measure("share", "none", (0, 1)))

    def __init__(self, options: MassOptions) -> None:
        self.options = options

    def __call__(self, evidence: Evidence) -> Tensor:
        a = shares(evidence.explanation.values)  # [B, L]
        reached = a.nan_to_num().sort(dim=1, descending=True).values.double().cumsum(1)
        count = 1 + (reached < self.options.mass - ROUNDING).sum(1).double()  # [B]
        units = evidence.trace.batch.mask.sum(1).double()
        count = torch.minimum(count, units).masked_fill(a.isnan().any(1), torch.nan)
        return torch.stack([count, count / units], dim=1)
