import torch
from attnx.plugin import Evidence, Measure, Metric
from torch import Tensor

from attnx.formulas import shares


class ImportanceEntropy(Metric):
    """Entropy of the explanation as a fraction of the most it could be.

    H(π) / log n with π_i = |v_i| / Σ_k |v_k| over the n units: 1 when all matter alike, 0 when one
    alone matters. Undefined for fewer than two units and where no unit has any importance.
    """

    family = "shape"
    sees = "scores"
    measures = (Measure("importance-entropy", "none", (0, 1), easier="down"),)

    def __call__(self, evidence: Evidence) -> Tensor:
        share = shares(evidence.explanation.values)  # [B, L], NaN where nothing has any importance
        most = evidence.trace.batch.mask.sum(1).double().log()  # [B]
        entropy = torch.special.entr(share).sum(1) / most  # 0/0 for one unit
        return entropy.clamp(0, 1)  # rounding
