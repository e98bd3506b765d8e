from torch import Tensor

from attnx.plugin import AttentionProjection

from .thresholds import sparsemax


class Sparsemax(AttentionProjection):
    """The point of the simplex nearest to the scores.

    a = argmin_p ‖p − z‖² over the simplex: units far enough below the highest get exactly 0.
    """

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        return sparsemax(scores, mask)
