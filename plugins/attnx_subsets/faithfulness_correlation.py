import torch
from torch import Tensor

from attnx.formulas import pearson
from attnx.plugin import Evidence, Measure, Metric

from .options import SubsetOptions
from .subset_effects import sums_and_effects


class FaithfulnessCorrelation(Metric):
    """Correlation of summed scores with the effect of deleting the same units, over random subsets.

    Pearson's r over random subsets S of (Σ_S e, p_ŷ(x) − p_ŷ(x without S)), where e are the scores of units
    (words, image patches, ...). Every subset has the same share of the units. It tests sizes and signs of
    scores, not only their order: an explanation is at 1 if its scores add up to the changes, up to a factor.
    Undefined for examples with fewer than two units, if no subset changes the output, and if all subsets
    have the same sum.
    """

    needs = ("deletion",)
    family = "erasure"
    sees = "units"
    cost = "one forward pass per subset, 50 by default, once for all explanations"
    cannot = (
        "whether units matter only together, as scores are added up; scores without signs, such as attention "
        "weights, cannot follow units that speak against the class"
    )
    measures = (Measure("r", "up", (-1, 1)),)

    def __init__(self, options: SubsetOptions) -> None:
        self.options = options
        self.passes = options.subsets

    def __call__(self, evidence: Evidence) -> Tensor:
        sums, effects = sums_and_effects(evidence, self.options)  # [B, K] each
        settled_sums = (sums / sums.abs().amax(1, keepdim=True).clamp_min(1e-300) * 2**20).round()  # rounding
        still = effects.abs().amax(1) <= _ROUNDING
        r = pearson(settled_sums, effects, torch.ones_like(sums, dtype=torch.bool))
        return r.masked_fill(still, torch.nan)


_ROUNDING = 1e-6  # of probabilities: smaller changes are rounding
