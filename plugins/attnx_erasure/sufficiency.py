from attnx.plugin import Axis, Evidence, Measure, Metric, WithCurve

from .erasure_curve import probability_falls, taken
from .options import ErasureCurveOptions


class Sufficiency(Metric):
    """How much the probability falls when the top units are all that is left.

    The mean over shares k of p_ŷ(x) − p_ŷ(the top ⌈k·n⌉ units of x), everything recomputed; the
    curve has the shares one by one. At least one unit is always kept. With variant=background drawn
    background units are put in the place of the others, and probabilities are averaged over the draws.
    """

    needs = ("deletion",)
    family = "erasure"
    sees = "units"
    measures = (Measure("aopc", "down", (-1, 1), best=0),)

    def __init__(self, options: ErasureCurveOptions) -> None:
        self.bins = options.bins
        self.draws = options.draws if options.variant == "background" else 0
        self.passes = len(options.bins) * max(1, self.draws)
        self.axis = Axis("probability lost with the top units alone", "% of units kept", options.bins)

    def __call__(self, evidence: Evidence) -> WithCurve:
        mask = evidence.trace.batch.mask[:, None]
        falls = probability_falls(evidence, mask & ~taken(evidence, self.bins), self.draws)  # [B, T]
        return WithCurve(falls.mean(1), falls)
