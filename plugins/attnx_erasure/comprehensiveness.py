from torch import Tensor

from attnx.plugin import Axis, Evidence, Measure, Metric, WithCurve

from .erasure_curve import probability_falls, taken
from .options import ErasureCurveOptions


class Comprehensiveness(Metric):
    """How much the predicted probability falls when the top units are deleted.

    The mean over shares k of p_ŷ(x) − p_ŷ(x without its top ⌈k·n⌉ units), where n is the number of units
    (words, image patches, ...) and the model runs again on what is left; the curve shows each share. The
    measure is `aopc`, −1 to 1; higher is better: the prediction depends on these units. Undefined if a
    share deletes all units. With variant=background the deleted units are replaced by random background
    units (units without information on the label), and probabilities are averaged over the draws. Costs
    one forward pass per share (times the number of draws). Shortened examples can be unlike any training
    example; a fall may be due to that alone.
    """

    needs = ("deletion",)
    family = "erasure"
    sees = "units"
    cost = "one forward pass per share (times the draws of variant=background)"
    cannot = (
        "whether the output fell because these units matter, or because a shortened example is unlike any "
        "training example"
    )
    measures = (Measure("aopc", "up", (-1, 1)),)

    def __init__(self, options: ErasureCurveOptions) -> None:
        self.bins = options.bins
        self.draws = options.draws if options.variant == "background" else 0
        self.passes = len(options.bins) * max(1, self.draws)
        self.axis = Axis("fall in probability without the top units", "% of units deleted", options.bins)

    def __call__(self, evidence: Evidence) -> WithCurve:
        falls = probability_falls(evidence, taken(evidence, self.bins), self.draws)  # [B, T]
        return WithCurve(falls.mean(1), falls)

    def deletes(self, evidence: Evidence) -> Tensor | None:
        return None if self.draws else taken(evidence, self.bins)
