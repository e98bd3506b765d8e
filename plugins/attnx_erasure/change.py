import torch
from torch import Tensor

ROUNDING = 16 * torch.finfo(torch.float32).eps  # of logits, relative to the largest: no change at all


def change_of_output(logits: Tensor, without: Tensor) -> Tensor:
    """[B, K, C] |p − p'| of every class, of logits [B, C] and logits [B, K, C] without something.

    Logits that differ by rounding are equal: passes of other shapes add up in another order, and
    units that change nothing must tie at 0. In double precision, so that p near 1 still differs.
    """
    p, q = logits.double().softmax(-1), without.double().softmax(-1)
    size = 1 + logits.abs().amax(-1)[:, None, None]  # [B, 1, 1]
    same = (logits[:, None] - without).abs().amax(-1, keepdim=True) <= ROUNDING * size  # [B, K, 1]
    return (p[:, None] - q).abs().masked_fill(same, 0.0)
