"""The search for attentions far from the model's that keep its output."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.optim.adam import adam

from .decoders import Change

PENALTY = 500.0


class Objective:
    """The gradient of Σ_k JS(α_k, a) + Σ_{j<k} JS(α_j, α_k) / K(K−1) for attentions α_1..α_K.

    ∂JS(α, β)/∂α_i = ½ log(α_i / m_i) with m = (α + β)/2. Terms that are the same for all units of an
    attention are left out, because softmax ignores them: log(α + β) replaces log m. Attentions are the
    first dimension, [K, B, L], so that all sums whose logarithms are needed are one matrix product, and
    so is the gradient.
    """

    def __init__(self, attention: Tensor, count: int) -> None:
        self.count = count
        self.attention = attention
        self.points = attention.repeat(1 + count, 1, 1)  # [1 + K, B, L]: a, then α_1..α_K
        self.tiny = torch.finfo(attention.dtype).tiny  # for the logarithm where there is no attention
        a, *alphas = torch.eye(1 + count, dtype=torch.float64)
        pairs = [alphas[j] + alphas[k] for k in range(count) for j in range(k)]
        sums = torch.stack(alphas + [alpha + a for alpha in alphas] + pairs)  # [2K + P, 1 + K]
        shares = -sums[:, 1:].T / 2  # [K, 2K + P]
        shares[:, 2 * count :] /= max(1, count * (count - 1))
        shares[:, :count] *= 2 * shares[0, count:].sum()  # log α_k once for every pair it is in
        self.sums, self.shares = sums.to(attention), shares.to(attention)
        self.constant = torch.special.xlogy(attention, attention).sum(1) / 2 + math.log(2)  # [B]

    def __call__(self, alpha: Tensor) -> tuple[Tensor, Tensor]:
        """JS(α_k, a) [K, B] and the gradient [K, B, L], up to constants over units, at α [K, B, L]."""
        torch.add(alpha, self.tiny, out=self.points[1:])
        logs = torch.mm(self.sums, self.points.flatten(1)).log_()  # [2K + P, B·L]
        gradient = torch.mm(self.shares, logs).view_as(alpha)
        of_alpha, of_sum = logs[: 2 * self.count].view(2, *alpha.shape)
        js = of_alpha.sub_(of_sum).mul_(alpha).addcmul_(of_sum, self.attention, value=-1).sum(-1)  # [K, B]
        return torch.add(self.constant, js, alpha=0.5), gradient


@torch.inference_mode()  # hundreds of small steps, each cheaper without autograd
def search(
    attention: Tensor, scores: Tensor, change: Change, epsilon: float, steps: int, rate: float
) -> tuple[Tensor, Tensor]:
    """Return adversaries [B, K, L] and whether each was found [B, K], from scores [B, K, L].

    Scores are −inf off the mask. Each result is the attention farthest from `attention` [B, L], among
    those its search visited, whose output changes by at most epsilon; `attention` itself if the search
    visited none.
    """
    z = scores.transpose(0, 1).contiguous()  # [K, B, L]
    objective = Objective(attention, len(z))
    best = attention.repeat(len(z), 1, 1)  # [K, B, L]
    farthest = torch.full_like(z[..., 0], -torch.inf)  # [K, B]
    mean, square, largest = (torch.zeros_like(z) for _ in range(3))  # state of Adam
    taken = torch.zeros((), device=z.device)
    for step in range(steps + 1):
        alpha = z.softmax(-1)
        moved, by_moved = (of_batch.transpose(0, 1) for of_batch in change(alpha.transpose(0, 1)))
        js, gradient = objective(alpha)
        within = moved <= epsilon
        better = (js > farthest).logical_and_(within)
        farthest = torch.where(better, js, farthest)
        best.lerp_(alpha, better[..., None].to(z))  # all or nothing
        if step == steps:
            break
        outside = within.logical_not_()[..., None].to(z)
        gradient.addcmul_(by_moved, outside, value=-PENALTY)
        level = torch.linalg.vecdot(gradient, alpha)[..., None]
        gradient.sub_(level).mul_(alpha)  # ∂/∂z of a softmax
        adam(
            [z], [gradient], [mean], [square], [largest], [taken],
            fused=True, foreach=False, amsgrad=True, maximize=True,
            lr=rate, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0,
        )  # fmt: skip
    return best.transpose(0, 1), farthest.isfinite().T
