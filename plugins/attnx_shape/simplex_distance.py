import torch
from torch import Tensor

from attnx.formulas import shares
from attnx.plugin import Evidence, Measure, Metric


class SimplexDistance(Metric):
    """Euclidean distance of the explanation from the nearest one-hot vector.

    min_i ‖α − e_i‖₂, where α are the units' shares in the absolute scores and e_i is 1 at the largest
    share and 0 elsewhere. 0 means that one unit (a word, an image patch, ...) has everything; neither end
    is better. As shares sum to 1, the distance is √(r² + Σ r_j²) of the other shares r_j and their sum r,
    which is accurate even close to 0.
    """

    family = "shape"
    sees = "scores"
    cost = "nothing: no pass through the model"
    cannot = "whether the explanation is right: few units may be the wrong ones"
    measures = (Measure("simplex-distance", "none", (0, 1)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        a = shares(evidence.explanation.values)  # [B, L]
        rest = a.scatter(1, a.argmax(1, keepdim=True), 0.0)  # [B, L]
        distance = torch.hypot(rest.sum(1), torch.linalg.vector_norm(rest, dim=1))  # [B]
        return distance.masked_fill(a.isnan().any(1), torch.nan)
