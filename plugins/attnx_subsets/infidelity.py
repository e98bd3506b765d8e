import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric

from .options import InfidelityOptions
from .subset_effects import sums_and_effects


class Infidelity(Metric):
    """Mean squared error of the scores as a prediction of what deleting random subsets does.
    The mean over random subsets S of (β·Σ_S e − Δ)², where e are the scores of units (words, image
    patches, ...), Δ = p_ŷ(x) − p_ŷ(x without S), and β = mean(Σ_S e · Δ) / mean((Σ_S e)²) is the factor
    that fits best: without it, weights would be compared with outputs. β is not below 0, so scores that
    point the wrong way predict no change; scale=any allows every β, as in the paper. `share` is the part
    of mean(Δ²) that the scores do not predict, undefined if no subset changes the output. Undefined for
    examples with fewer than two units.
    """

    needs = ("deletion",)
    family = "erasure"
    sees = "units"
    cost = "one forward pass per subset, 50 by default, once for all explanations"
    cannot = (
        "how well models compare: it is small wherever the output hardly changes, whatever the explanation "
        "(see `share`); and units that matter only together count as errors, as scores are added up"
    )
    measures = (Measure("infidelity", "down", (0, 1)), Measure("share", "down", (0, 1)))

    def __init__(self, options: InfidelityOptions) -> None:
        self.options = options
        self.passes = options.subsets

    def __call__(self, evidence: Evidence) -> Tensor:
        sums, effects = sums_and_effects(evidence, self.options)  # [B, K] each
        power = sums.square().mean(1)  # [B]
        beta = (sums * effects).mean(1) / power.masked_fill(power == 0, 1.0)
        if self.options.scale == "positive":
            beta = beta.clamp_min(0)
        error = (beta[:, None] * sums - effects).square().mean(1)
        change = effects.square().mean(1)
        share = error / change.masked_fill(change <= _ROUNDING, torch.nan)
        return torch.stack([error, share.clamp(0, 1)], dim=1)  # [B, 2]; at most 1 but for rounding


_ROUNDING = 1e-12  # of squared probabilities: smaller changes are rounding
