from attnx import Axis, Evidence, Measure, Metric, WithCurve

from .erasure_curve import probability_falls, taken
from .options import ErasureCurveOptions


class Comprehensiveness(Metric):
    """How much the probability falls when the top units are deleted.

    The mean over shares k of p_ŷ(x) − p_ŷ(x without its top ⌈k·n⌉ units), everything recomputed;
    the curve has the shares one by one. Undefined where a share takes all units.
    """

    needs = ("deletion",)
    family = "erasure"
    sees = "units"
    measures = (Measure("aopc", "up", (-1, 1)),)

    def __init__(self, options: ErasureCurveOptions) -> None:
        self.bins = options.bins
        self.passes = len(options.bins)
        self.axis = Axis("probability lost without the top units", "% of units deleted", options.bins)

    def __call__(self, evidence: Evidence) -> WithCurve:
        falls = probability_falls(evidence, taken(evidence, self.bins))  # [B, T]
        return WithCurve(falls.mean(1), falls)
