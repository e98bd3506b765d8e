import torch
from torch import Tensor

from attnx.formulas import average_ranks
from attnx.plugin import Evidence, Measure, Metric


class RocAuc(Metric):
    """Probability that a marked unit scores higher than one that is not marked (area under ROC).

    (Σ_marked rank − s(s + 1)/2) / (s(n − s)), where s of n units (words, image patches, ...) are marked and
    ranks count from the lowest score; equal scores share their mean rank, so a tie counts one half. Chance is
    .5, also for equal scores. Undefined if no unit or every unit is marked, or if the marks are unknown.
    """

    needs = ("rationale",)
    family = "ground-truth"
    sees = "rationale"
    cost = "nothing: no pass through the model"
    cannot = (
        "whether the top units are right: if few of many units are marked, it is close to 1 even if other "
        "units come first. Nor whether the model uses the marked units"
    )
    measures = (Measure("roc-auc", "up", (0, 1)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        mask = evidence.trace.batch.mask
        marked = (evidence.trace.batch.rationale == 1) & mask  # [B, L], False where not known
        ranks = average_ranks(evidence.explanation.values, mask)  # [B, L]
        s, n = marked.sum(1).double(), mask.sum(1).double()
        pairs = s * (n - s)
        above = (ranks * marked).sum(1) - s * (s + 1) / 2
        return above / pairs.masked_fill(pairs == 0, torch.nan)  # [B]
