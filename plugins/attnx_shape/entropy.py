import math

import torch
from torch import Tensor

from attnx.formulas import shares
from attnx.plugin import Evidence, Measure, Metric

from .options import EntropyOptions


class Entropy(Metric):
    """Shannon entropy of the explanation.

    −Σ_j α_j log α_j, in nats unless bits are asked for (the paper's table is in bits).
    """

    family = "shape"
    sees = "scores"
    measures = (Measure("entropy", "none", (0, math.inf), easier="down"),)

    def __init__(self, options: EntropyOptions) -> None:
        self.nats = math.log(2) if options.unit == "bits" else 1.0

    def __call__(self, evidence: Evidence) -> Tensor:
        return torch.special.entr(shares(evidence.explanation.values)).sum(1) / self.nats  # [B]
