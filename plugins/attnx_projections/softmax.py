from torch import Tensor

from attnx.plugin import AttentionProjection

from .masking import project_masked
from .options import SoftmaxOptions


class Softmax(AttentionProjection):
    """Softmax attention: weights proportional to the exponentials of the scores.

    a_i = exp(z_i / T) / Σ_j exp(z_j / T) for the scores z of the units (words, image patches, ...) with
    temperature T. No weight is exactly 0.
    """

    def __init__(self, options: SoftmaxOptions) -> None:
        self.temperature = options.temperature

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        return project_masked(lambda z: (z / self.temperature).softmax(-1), scores, mask)
