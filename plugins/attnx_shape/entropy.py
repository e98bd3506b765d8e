import math

import torch
from torch import Tensor

from attnx.formulas import shares
from attnx.plugin import Evidence, Measure, Metric

from .options import EntropyOptions


class Entropy(Metric):
    """Shannon entropy of the explanation's scores.

    −Σ_j α_j log α_j, where α_j is the share of unit j (a word, an image patch, ...) in the absolute
    scores; in nats by default, in bits with unit=bits (the paper's table is in bits). 0 if one unit has
    all the importance, log n if all n units have the same. Neither end is better.
    """

    family = "shape"
    sees = "scores"
    cost = "nothing: no pass through the model"
    cannot = "whether the explanation is right: few units may be the wrong ones"
    measures = (Measure("entropy", "none", (0, math.inf)),)

    def __init__(self, options: EntropyOptions) -> None:
        self.nats = math.log(2) if options.unit == "bits" else 1.0

    def __call__(self, evidence: Evidence) -> Tensor:
        return torch.special.entr(shares(evidence.explanation.values)).sum(1) / self.nats  # [B]
