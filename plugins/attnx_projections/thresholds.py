"""Sparsemax and 1.5-entmax by Newton's method on their threshold, without sorting.

Both are p_i = φ(d_i) with heights d_i = (z_i − τ)₊ over the one threshold τ that makes p sum to 1; φ is
the identity for sparsemax and the square for 1.5-entmax, whose scores are halved first. The excess over 1
is a convex decreasing function of τ, so Newton's method approaches its root from the left and does not
pass it. It starts where only the highest unit has a weight, of 1.

As τ only rises, a unit at 0 stays at 0, and heights are lowered in place. They keep the precision that
z_i − τ would lose, and each step corrects what rounding made the last one overshoot.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .masking import in_full_precision

MOST_STEPS = 100  # a step halves the excess or the support, so even extreme scores need fewer


def sparsemax(scores: Tensor, mask: Tensor) -> Tensor:
    """The Euclidean projection of each row's units [..., L] on the simplex; 0 off the mask."""
    return _project(_Sparsemax, scores, mask)


def entmax15(scores: Tensor, mask: Tensor) -> Tensor:
    """1.5-entmax of each row's units [..., L]; 0 off the mask."""
    return _project(_Entmax15, scores, mask)


class _Sparsemax(torch.autograd.Function):
    """Σ d = 1, which is linear on a given support: a step that keeps the support has reached the root."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, mask: Tensor) -> Tensor:
        d = _below_highest(scores, mask).add_(1).relu_()  # [..., L]
        last_size = None
        for _ in range(MOST_STEPS):
            support = d.sign()  # [..., L]
            size = support.sum(-1, keepdim=True).clamp_(min=1)  # [..., 1], 1 for a row without units
            excess = d.sum(-1, keepdim=True).sub_(1)
            d.addcmul_(support, excess.div_(size), value=-1).relu_()
            if last_size is not None and torch.equal(size, last_size):
                break
            last_size = size
        ctx.save_for_backward(d)
        return d

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """On the support, return the gradient minus its mean there."""
        p: Tensor = ctx.saved_tensors[0]
        support = p.sign()
        kept = gradient * support
        mean = kept.sum(-1, keepdim=True) / support.sum(-1, keepdim=True).clamp_(min=1)
        return kept.addcmul_(support, mean, value=-1), None


class _Entmax15(torch.autograd.Function):
    """‖d‖ = 1. The norm is convex in τ as its square is, and straighter, so its steps are longer.

    With q = ‖d‖² the step is (q − √q) / Σ d. Where ‖d‖ − 1 = e it leaves at most n e² / 2, as
    −‖d‖′ ≥ 1 and ‖d‖″ ≤ n.
    """

    @staticmethod
    def forward(ctx: Any, scores: Tensor, mask: Tensor) -> Tensor:
        d = _below_highest(scores, mask).mul_(0.5).add_(1).relu_()  # [..., L]
        near = (torch.finfo(d.dtype).eps / d.shape[-1]) ** 0.5  # one step from here is exact
        for _ in range(MOST_STEPS):
            q = d.square().sum(-1, keepdim=True)  # [..., 1]
            excess = q - q.sqrt()
            step = excess / d.sum(-1, keepdim=True).clamp_(min=1)  # Σ d ≥ 1 except in a row without units
            d.addcmul_(d.sign(), step, value=-1).relu_()
            if excess.max().item() <= near:
                break
        ctx.save_for_backward(d)
        return d.square()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Return d times the gradient minus its mean weighted by d."""
        d: Tensor = ctx.saved_tensors[0]
        kept = gradient * d
        mean = kept.sum(-1, keepdim=True) / d.sum(-1, keepdim=True).clamp_(min=1)
        return kept.addcmul_(d, mean, value=-1), None


def _project(projection: type[_Sparsemax] | type[_Entmax15], scores: Tensor, mask: Tensor) -> Tensor:
    if not scores.shape[-1]:  # no highest score to start from
        return scores
    p: Tensor = projection.apply(in_full_precision(scores), mask)  # type: ignore[no-untyped-call]
    return p.to(scores.dtype)


def _below_highest(scores: Tensor, mask: Tensor) -> Tensor:
    """Return scores minus the row's highest, −∞ off the mask: a new tensor, 0 at the highest unit."""
    z = torch.where(mask, scores, -torch.inf)
    highest = z.amax(-1, keepdim=True).clamp_(min=torch.finfo(z.dtype).min)  # finite without units too
    return z.sub_(highest)
