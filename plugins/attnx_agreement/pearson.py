from attnx.plugin import Evidence, Measure, Metric
from torch import Tensor

from attnx.formulas import pearson


class Pearson(Metric):
    """Pearson's correlation between explanation and reference.

    Undefined for fewer than two units and where either score is constant.
    """

    needs = ("reference",)
    family = "agreement"
    sees = "scores"
    measures = (Measure("r", "up", (-1, 1)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        return pearson(evidence.explanation.values, evidence.reference.values, evidence.trace.batch.mask)
