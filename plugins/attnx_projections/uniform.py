import torch
from torch import Tensor

from attnx.plugin import AttentionProjection

from .masking import in_full_precision


class Uniform(AttentionProjection):
    """Uniform attention: the same weight for every unit, whatever the scores.

    a_i = 1/n for n units (words, image patches, ...). A model trained with it is the baseline without
    attention.
    """

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        units = torch.ones_like(in_full_precision(scores)).masked_fill(~mask, 0.0)  # [..., L]
        return (units / units.sum(-1, keepdim=True).clamp_min(1)).to(scores.dtype)
