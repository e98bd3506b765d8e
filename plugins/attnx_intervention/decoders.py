"""How the output moves with attention: in closed form where it can be, by autograd elsewhere."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from attnx import Evidence, total_variation

from .reattending import logits_under

TOLERANCE = 1e-4  # of logits, relative to the largest


class Change(Protocol):
    """The change of the output under other attentions."""

    def __call__(self, attention: Tensor, /) -> tuple[Tensor, Tensor]:
        """Total variation [B, K] of the output under attentions [B, K, L], and its gradient [B, K, L]."""
        ...


class AffineChange:
    """For a decoder that is affine in attention, of which logits under single units tell everything.

    As Σ_i a_i = 1, logits(a) = Σ_i a_i·v_i, where v_i are the logits when unit i has all attention.
    """

    def __init__(self, evidence: Evidence, single: Tensor) -> None:
        self.single = single  # [B, L, C] v
        self.half = self.single.mT / 2  # [B, C, L]
        self.p = evidence.trace.probabilities[:, None]  # [B, 1, C]

    def __call__(self, attention: Tensor) -> tuple[Tensor, Tensor]:
        q = torch.bmm(attention, self.single).softmax(-1)  # [B, K, C]
        change = (q - self.p).mul_(0.5)
        slope = change.sign().mul_(q)  # 2·∂TV/∂q, times q
        by_logit = slope.addcmul_(q, slope.sum(-1, keepdim=True), value=-1)  # [B, K, C] 2·∂TV/∂logit
        return change.abs_().sum(-1), torch.bmm(by_logit, self.half)


class DecodedChange:
    """For any decoder: through the model itself."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.p = evidence.trace.probabilities[:, None]  # [B, 1, C]

    def __call__(self, attention: Tensor) -> tuple[Tensor, Tensor]:
        with torch.inference_mode(False), torch.enable_grad():
            a = attention.clone().requires_grad_()
            q = self.evidence.model.reattend(self.evidence.trace, a).softmax(-1)  # [B, K, C]
            change = total_variation(self.p, q)  # [B, K]
            (gradient,) = torch.autograd.grad(change.sum(), a)
        return change.detach(), gradient


def change_of(evidence: Evidence, probes: Tensor) -> Change:
    """The closed form if it agrees with the model at its own attention and at probes [B, K, L].

    Whether a decoder is affine may depend on its options, so it is checked and not declared. No
    result rests on the check: outputs under what the search finds are computed by the model.
    """
    a = evidence.trace.attention
    units = a.shape[1]
    each = torch.eye(units, dtype=a.dtype, device=a.device).expand(len(a), units, units)
    single = logits_under(evidence, each).masked_fill(~evidence.trace.batch.mask[..., None], 0.0)  # [B, L, C]
    points = torch.cat([a[:, None], probes], dim=1)  # [B, 1 + K, L]
    error = (logits_under(evidence, points) - torch.bmm(points, single)).abs().amax((1, 2))  # [B]
    affine = error <= TOLERANCE * single.abs().amax((1, 2)).clamp_min(1.0)
    return AffineChange(evidence, single) if bool(affine.all()) else DecodedChange(evidence)
