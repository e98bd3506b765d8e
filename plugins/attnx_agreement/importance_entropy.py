import torch
from torch import Tensor

from attnx.formulas import shares
from attnx.plugin import Evidence, Measure, Metric


class ImportanceEntropy(Metric):
    """Entropy of the explanation's scores, relative to the maximum possible.

    H(π) / log n, with π_i = |v_i| / Σ_k |v_k| the share of unit i (a word, an image patch, ...) among the
    n units. The range is 0 to 1: 0 if one unit has all the importance, 1 if all units have the same.
    Neither end is better. Undefined for examples with fewer than two units or if all scores are 0.
    """

    family = "shape"
    sees = "scores"
    cost = "nothing: no pass through the model"
    cannot = "whether the explanation is right: few units may be the wrong ones"
    measures = (Measure("importance-entropy", "none", (0, 1)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        share = shares(evidence.explanation.values)  # [B, L], NaN where all scores are 0
        most = evidence.trace.batch.mask.sum(1).double().log()  # [B]
        entropy = torch.special.entr(share).sum(1) / most  # 0/0 for one unit
        return entropy.clamp(0, 1)  # rounding
