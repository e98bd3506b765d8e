import torch
from torch import Tensor

from attnx.plugin import AttentionProjection

from .masking import in_full_precision


class Spherical(AttentionProjection):
    """Spherical softmax: weights proportional to the squares of the scores.

    a_i = z_i² / Σ_j z_j² for the scores z of the units (words, image patches, ...): the sign of a score
    does not matter. If all scores are 0, the weights are uniform.
    """

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        if not scores.shape[-1]:
            return scores
        z = in_full_precision(scores).masked_fill(~mask, 0.0)  # [..., L]
        largest = z.detach().abs().amax(-1, keepdim=True)  # [..., 1]
        silent = largest == 0
        # The scale of a row cancels; dividing by it first prevents overflow of the squares.
        squares = (z / largest.masked_fill(silent, 1.0)).square()
        squares = torch.where(silent, mask.to(z.dtype), squares)
        total = squares.sum(-1, keepdim=True)
        return (squares / total.masked_fill(total == 0, 1.0)).to(scores.dtype)
