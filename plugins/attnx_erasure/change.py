import torch
from torch import Tensor

ROUNDING = 16 * torch.finfo(torch.float32).eps  # relative to the largest logit; less is rounding


def change_of_output(logits: Tensor, without: Tensor) -> Tensor:
    """Return [B, K, C] |p − p'| of every class, from logits [B, C] and changed logits [B, K, C].

    Logits that differ only by rounding count as equal: passes of different shapes add up in different
    orders, and units that change nothing must tie at 0. In double precision, so that small changes near p
    = 1 remain.
    """
    p, q = logits.double().softmax(-1), without.double().softmax(-1)
    size = 1 + logits.abs().amax(-1)[:, None, None]  # [B, 1, 1]
    same = (logits[:, None] - without).abs().amax(-1, keepdim=True) <= ROUNDING * size  # [B, K, 1]
    return (p[:, None] - q).abs().masked_fill(same, 0.0)
