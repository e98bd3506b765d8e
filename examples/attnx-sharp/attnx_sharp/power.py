import torch
from torch import Tensor

from attnx.plugin import AttentionProjection

from .options import PowerOptions


class Power(AttentionProjection):
    """Softmax raised to a power and normalised again."""

    def __init__(self, options: PowerOptions) -> None:
        self.exponent = options.exponent

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        lowest = torch.finfo(scores.dtype).min
        a = (self.exponent * scores).masked_fill(~mask, lowest).softmax(-1)  # aᵖ / Σ aᵖ in one step
        return a.masked_fill(~mask, 0.0)
