from attnx.plugin import Evidence, Measure, Metric
from torch import Tensor

from attnx.formulas import average_ranks, pearson


class Spearman(Metric):
    """Spearman's rank correlation between explanation and reference.

    Tied values share the mean of their ranks. Undefined for fewer than two units and where either
    score is constant.
    """

    needs = ("reference",)
    family = "agreement"
    sees = "scores"
    measures = (Measure("rho", "up", (-1, 1)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        mask = evidence.trace.batch.mask
        x, y = (average_ranks(s.values, mask) for s in (evidence.explanation, evidence.reference))
        return pearson(x, y, mask)
