from torch import Tensor

from attnx.plugin import Axis, Evidence, Measure, Metric, WithCurve

from .erasure_curve import probability_falls, taken
from .options import ErasureCurveOptions


class Sufficiency(Metric):
    """How much the predicted probability falls when only the top units are kept.

    The mean over shares k of p_ŷ(x) − p_ŷ(only the top ⌈k·n⌉ units of x), where n is the number of units
    (words, image patches, ...) and the model runs again on what is kept; the curve shows each share. At
    least one unit is always kept. The measure is `aopc`, −1 to 1; 0 or less means these units are enough
    for the prediction. With variant=background the other units are replaced by random background units
    (units without information on the label), and probabilities are averaged over the draws. Costs one
    forward pass per share (times the number of draws). Shortened examples can be unlike any training
    example.
    """

    needs = ("deletion",)
    family = "erasure"
    sees = "units"
    cost = "one forward pass per share (times the draws of variant=background)"
    cannot = (
        "anything about a model whose output depends on nothing: any units keep it. Read it next to "
        "comprehensiveness"
    )
    measures = (Measure("aopc", "down", (-1, 1), best=0),)

    def __init__(self, options: ErasureCurveOptions) -> None:
        self.bins = options.bins
        self.draws = options.draws if options.variant == "background" else 0
        self.passes = len(options.bins) * max(1, self.draws)
        self.axis = Axis("fall in probability with only the top units", "% of units kept", options.bins)

    def __call__(self, evidence: Evidence) -> WithCurve:
        falls = probability_falls(evidence, self._others(evidence), self.draws)  # [B, T]
        return WithCurve(falls.mean(1), falls)

    def deletes(self, evidence: Evidence) -> Tensor | None:
        return None if self.draws else self._others(evidence)

    def _others(self, evidence: Evidence) -> Tensor:
        """[B, T, L] all units but the top ones of every share."""
        return evidence.trace.batch.mask[:, None] & ~taken(evidence, self.bins)
