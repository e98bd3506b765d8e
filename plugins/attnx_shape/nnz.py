import math

import torch
from torch import Tensor

from attnx.formulas import shares
from attnx.plugin import Evidence, Measure, Metric

from .options import NnzOptions


class Nnz(Metric):
    """Number of units with more than 1 % of the explanation's total.

    Σ_j 1(α_j > .01), where α_j is the share of unit j (a word, an image patch, ...) in the absolute
    scores. The paper's formula divides by the number of units but its table does not; the default is the
    count. Neither a small nor a large number is better.
    """

    family = "shape"
    sees = "scores"
    cost = "nothing: no pass through the model"
    cannot = "whether the explanation is right: few units may be the wrong ones"

    def __init__(self, options: NnzOptions) -> None:
        self.options = options
        self.measures = (Measure("nnz", "none", (0, 1 if options.fraction else math.inf)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        a = shares(evidence.explanation.values)  # [B, L]
        count = (a > self.options.threshold).sum(1).to(a.dtype)  # [B]
        if self.options.fraction:
            count = count / evidence.trace.batch.mask.sum(1)
        return count.masked_fill(a.isnan().any(1), torch.nan)
