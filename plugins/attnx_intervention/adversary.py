"""The search for attentions far from the model's that leave its output where it is."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .decoders import Change

PENALTY = 500.0
FIRST, SECOND, SMALL = 0.9, 0.999, 1e-8  # Adam's


class Objective:
    """The gradient of Σ_k JS(α_k, a) + Σ_{j<k} JS(α_j, α_k) / K(K−1) for attentions α_1..α_K.

    ∂JS(α, β)/∂α_i = ½ log(α_i / m_i) with m = (α + β)/2. What is the same for all units of an
    attention is left out, as softmax does not see it: log(α + β) serves for log m.
    Attentions come first, [K, B, L], so that the sums over pairs of them are one matrix product.
    Single precision is enough for a direction, and its logarithms are cheap.
    """

    def __init__(self, attention: Tensor, count: int) -> None:
        self.count = count
        self.attention = attention
        self.points = attention.repeat(1 + count, 1, 1)  # [1 + K, B, L]: a, then α_1..α_K
        own = torch.stack([torch.zeros(count, dtype=torch.long), torch.arange(1, count + 1)])  # [2, K]
        mutual = torch.triu_indices(count, count, 1) + 1  # [2, K(K−1)/2]
        pairs = torch.nn.functional.one_hot(torch.cat([own, mutual], dim=1), 1 + count).sum(0)
        self.pairs = pairs.to(attention)  # [P, 1 + K] who is in a pair; the K pairs with a first
        weight = torch.full((len(pairs), 1), 1 / max(1, count * (count - 1)), dtype=torch.float64)
        weight[:count] = 1.0
        self.shares = (weight * pairs[:, 1:] / 2).T.to(attention)  # [K, P] ½ of the weight of a pair
        self.share = float(self.shares[0].sum())
        self.smallest = torch.finfo(attention.dtype).tiny
        self.constant = torch.special.xlogy(attention, attention).sum(1) / 2 + math.log(2)  # [B]

    def __call__(self, alpha: Tensor) -> tuple[Tensor, Tensor]:
        """JS(α_k, a) [K, B] and the gradient [K, B, L], up to constants over units, at α [K, B, L]."""
        alpha = self.points[1:].copy_(alpha)
        log_sums = (self.pairs @ self.points.flatten(1)).clamp_min_(self.smallest).log_()  # [P, B·L]
        log_alpha = alpha.clamp_min(self.smallest).log_()  # [K, B, L]
        gradient = torch.addmm(log_alpha.flatten(1), self.shares, log_sums, beta=self.share, alpha=-1)
        own = log_sums[: self.count].view_as(alpha)
        js = log_alpha.sub_(own).mul_(alpha).addcmul_(own, self.attention, value=-1).sum(-1)  # [K, B]
        return torch.add(self.constant, js, alpha=0.5), gradient.view_as(alpha)


class Adam:
    """Adam with amsgrad, going up."""

    def __init__(self, like: Tensor, rate: float) -> None:
        self.rate = rate
        self.step = 0
        self.mean = torch.zeros_like(like)
        self.square = torch.zeros_like(like)
        self.largest = torch.zeros_like(like)

    def ascend(self, z: Tensor, gradient: Tensor) -> None:
        """One step, in place."""
        self.step += 1
        self.mean.lerp_(gradient, 1 - FIRST)
        self.square.mul_(SECOND).addcmul_(gradient, gradient, value=1 - SECOND)
        torch.maximum(self.largest, self.square, out=self.largest)
        unbiased = math.sqrt(1 - SECOND**self.step)
        scale = self.largest.sqrt().add_(SMALL * unbiased)
        z.addcdiv_(self.mean, scale, value=self.rate * unbiased / (1 - FIRST**self.step))


def search(
    attention: Tensor, scores: Tensor, change: Change, epsilon: float, steps: int, rate: float
) -> tuple[Tensor, Tensor]:
    """Adversaries [B, K, L] and whether each was found [B, K], from scores [B, K, L], −inf off the mask.

    Of the attentions each search visits, the farthest from `attention` [B, L] whose output changes
    by no more than epsilon; a search that visits none gives `attention` itself.
    """
    z = scores.transpose(0, 1).contiguous()  # [K, B, L]
    objective, adam = Objective(attention.float(), len(z)), Adam(z, rate)
    best = attention.repeat(len(z), 1, 1)  # [K, B, L]
    farthest = torch.full_like(z[..., 0], -torch.inf)  # [K, B]
    for step in range(steps + 1):
        alpha = z.softmax(-1)
        moved, by_moved = (of_batch.transpose(0, 1) for of_batch in change(alpha.transpose(0, 1)))
        js, direction = objective(alpha)
        better = (js > farthest).logical_and_(moved <= epsilon)
        farthest = torch.where(better, js, farthest)
        torch.where(better[..., None], alpha, best, out=best)
        if step == steps:
            break
        outside = (moved > epsilon)[..., None].to(z)
        gradient = torch.addcmul(direction.to(z), by_moved, outside, value=-PENALTY)
        level = (gradient * alpha).sum(-1, keepdim=True)
        adam.ascend(z, gradient.sub_(level).mul_(alpha))  # ∂/∂z of a softmax
    return best.transpose(0, 1), farthest.isfinite().T
