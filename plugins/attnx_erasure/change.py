import torch
from torch import Tensor

from attnx.formulas import settled

ROUNDING = 16 * torch.finfo(torch.float32).eps  # relative to the largest logit; less is rounding


def change_of_output(logits: Tensor, without: Tensor, *, signed: bool = False) -> Tensor:
    """Return [B, K, C] |p − p'|, or p − p', of every class, from logits [B, C] and changed ones [B, K, C].

    Logits that differ only by rounding count as equal: passes of different shapes add up in different
    orders, and units that change nothing must tie at 0. In double precision, so that small changes near p
    = 1 remain.
    """
    p, q = logits.double().softmax(-1), without.double().softmax(-1)
    size = 1 + logits.abs().amax(-1)[:, None, None]  # [B, 1, 1]
    same = (logits[:, None] - without).abs().amax(-1, keepdim=True) <= ROUNDING * size  # [B, K, 1]
    change = (p[:, None] - q).masked_fill(same, 0.0)
    return change if signed else change.abs()


def settled_changes(values: Tensor, mask: Tensor, logits: Tensor, target: Tensor | None) -> Tensor:
    """Return [B, L] changes of the target's probability, or of all on average, that rounding cannot reorder.

    Rounding moves a logit by ROUNDING·size and thereby the probability q without the unit by that times
    q(1 − q), which is at most p(1 − p) + |p − q|. Changes that are closer than this are equal.
    """
    p = logits.double().softmax(-1)
    moves = p * (1 - p)  # [B, C]
    moved = moves.mean(-1, keepdim=True) if target is None else moves.gather(1, target[:, None])  # [B, 1]
    size = 1 + logits.double().abs().amax(-1, keepdim=True)  # [B, 1]
    return settled(values, mask, absolute=ROUNDING * size * (moved + values.abs()))
