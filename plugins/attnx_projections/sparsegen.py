from torch import Tensor

from attnx.plugin import AttentionProjection

from .masking import project_masked
from .options import SparsegenOptions
from .thresholds import sparsemax


class Sparsegen(AttentionProjection):
    """Sparsemax attention with adjustable sparsity, from uniform to a single unit.

    a = argmin_p ‖p − z‖² − λ‖p‖² over the simplex = sparsemax(z / (1 − λ)), for λ < 1 and the scores z of
    the units (words, image patches, ...). A larger λ gives fewer weights above 0.
    """

    def __init__(self, options: SparsegenOptions) -> None:
        self.lam = options.lam

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        return project_masked(lambda z: sparsemax(z / (1 - self.lam), mask), scores, mask)
