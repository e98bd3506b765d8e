from torch import Tensor

from attnx.formulas import average_ranks, pearson
from attnx.plugin import Evidence, Measure, Metric


class Spearman(Metric):
    """Spearman's rank correlation between explanation and reference.

    Pearson's r of the ranks of the units (words, image patches, ...); tied values share their mean rank.
    The range is −1 to 1; higher means better agreement. Undefined for examples with fewer than two units,
    and if either score is constant.
    """

    needs = ("reference",)
    family = "agreement"
    sees = "scores"
    cost = "nothing but the reference: no pass through the model"
    cannot = "which of the two is right if they disagree, nor that they are right if they agree"
    measures = (Measure("rho", "up", (-1, 1)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        mask = evidence.trace.batch.mask
        x, y = (average_ranks(s.values, mask) for s in (evidence.explanation, evidence.reference))
        return pearson(x, y, mask)
