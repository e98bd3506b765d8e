from torch import Tensor

from attnx import Evidence, Measure, Metric

from .shares import shares


class SimplexDistance(Metric):
    """Euclidean distance of the explanation from the nearest one-hot vector.

    min_i ‖α − e_i‖₂ = √(Σ_j α_j² − 2 max_i α_i + 1).
    """

    family = "shape"
    measures = (Measure("simplex-distance", "none", (0, 1)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        a = shares(evidence)  # [B, L]
        return (a.square().sum(1) - 2 * a.amax(1) + 1).clamp_min(0).sqrt()  # [B]
