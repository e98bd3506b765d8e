from torch import Tensor

from attnx.plugin import AttentionProjection

from .thresholds import sparsemax


class Sparsemax(AttentionProjection):
    """Sparsemax attention: low scores get a weight of exactly 0.

    a = argmin_p ‖p − z‖² over the simplex: the point nearest to the scores z of the units (words, image
    patches, ...).
    """

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        return sparsemax(scores, mask)
