from torch import Tensor

from attnx.formulas import pearson
from attnx.plugin import Evidence, Measure, Metric


class Pearson(Metric):
    """Pearson's linear correlation between explanation and reference.

    r over the units (words, image patches, ...) of an example. The range is −1 to 1; higher means better
    agreement. Unlike rank correlations it uses the sizes of the scores, so one very large value can
    decide it. Undefined for examples with fewer than two units, and if either score is constant.
    """

    needs = ("reference",)
    family = "agreement"
    sees = "scores"
    cost = "nothing but the reference: no pass through the model"
    cannot = "which of the two is right if they disagree; one very large score can decide it"
    measures = (Measure("r", "up", (-1, 1)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        return pearson(evidence.explanation.values, evidence.reference.values, evidence.trace.batch.mask)
