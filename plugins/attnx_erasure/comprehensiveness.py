from attnx.plugin import Axis, Evidence, Measure, Metric, WithCurve

from .erasure_curve import probability_falls, taken
from .options import ErasureCurveOptions


class Comprehensiveness(Metric):
    """How much the probability falls when the top units are deleted.

    The mean over shares k of p_ŷ(x) − p_ŷ(x without its top ⌈k·n⌉ units), everything recomputed;
    the curve has the shares one by one. Undefined where a share takes all units. With variant=background
    drawn background units are put in their place, and probabilities are averaged over the draws.
    """

    needs = ("deletion",)
    family = "erasure"
    sees = "units"
    measures = (Measure("aopc", "up", (-1, 1)),)

    def __init__(self, options: ErasureCurveOptions) -> None:
        self.bins = options.bins
        self.draws = options.draws if options.variant == "background" else 0
        self.passes = len(options.bins) * max(1, self.draws)
        self.axis = Axis("probability lost without the top units", "% of units deleted", options.bins)

    def __call__(self, evidence: Evidence) -> WithCurve:
        falls = probability_falls(evidence, taken(evidence, self.bins), self.draws)  # [B, T]
        return WithCurve(falls.mean(1), falls)
