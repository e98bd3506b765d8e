import torch
from torch import Tensor

from attnx.formulas import shares
from attnx.plugin import Evidence, Measure, Metric


class Gini(Metric):
    """Gini index of the explanation's scores: how unequal they are.

    Σ_i (2i − n − 1) a_(i) / n over the n units (words, image patches, ...) of an example, where a_(i) are
    the shares of the absolute scores in ascending order. 0 if all units have the same share, 1 − 1/n if one
    unit has everything. Undefined if all scores are 0.
    """

    family = "shape"
    sees = "scores"
    cost = "nothing: no pass through the model"
    cannot = "whether the explanation is right: unequal scores are easier to read, and can be wrong"
    measures = (Measure("gini", "none", (0, 1), easier="up"),)

    def __call__(self, evidence: Evidence) -> Tensor:
        mask = evidence.trace.batch.mask
        a = shares(evidence.explanation.values)  # [B, L], 0 off the mask
        units = mask.sum(1, keepdim=True)  # [B, 1]
        place = torch.arange(1, mask.shape[1] + 1, device=mask.device) - (
            mask.shape[1] - units
        )  # i, of units
        weight = (2 * place - units - 1).masked_fill(place < 1, 0)  # zeros off the mask are sorted first
        return (weight * a.sort(1).values).sum(1).div(units[:, 0]).clamp_min(0)  # [B]
