"""How the output changes with attention: in closed form if it is linear, otherwise by autograd."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from attnx.formulas import total_variation
from attnx.plugin import Evidence, PluginError

from .reattending import alternatives_at_once, logits_under

LINEAR = "linear-decoder"
TOLERANCE = 1e-4  # of logits, relative to the largest


class Change(Protocol):
    """The change of the output under other attentions."""

    def __call__(self, attention: Tensor, /) -> tuple[Tensor, Tensor]:
        """Total variation [B, K] of the output under attentions [B, K, L], and its gradient [B, K, L]."""
        ...


class LinearChange:
    """The change for logits that are linear in attention, computed from the logits of single units.

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
    """The change for any decoder, through the model itself."""

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


def change_of(evidence: Evidence, single: Tensor) -> Change:
    """Return the closed form if the model declares one; `single` [B, L, C] are the logits of single units."""
    if LINEAR in evidence.model.provides:
        return LinearChange(evidence, single)
    return DecodedChange(evidence)


def logits_of_units(evidence: Evidence) -> Tensor:
    """[B, L, C] the logits when a single unit has all attention, 0 off the mask."""
    a = evidence.trace.attention
    columns = torch.arange(a.shape[1], device=a.device)
    found = []
    for some in columns.split(alternatives_at_once(a)):  # their number is the square of a text's length
        each = (some[:, None] == columns).to(a.dtype).expand(len(a), -1, -1)  # [B, k, L]
        found.append(evidence.model.reattend(evidence.trace, each))
    return torch.cat(found, dim=1).masked_fill(~evidence.trace.batch.mask[..., None], 0.0)


def require_linear(evidence: Evidence, single: Tensor, attention: Tensor) -> None:
    """Check the model's declaration at its own attention and at `attention` [B, K, L]."""
    points = torch.cat([evidence.trace.attention[:, None], attention], dim=1)  # [B, 1 + K, L]
    error = (logits_under(evidence, points) - torch.bmm(points, single)).abs().amax((1, 2))  # [B]
    if not bool((error <= TOLERANCE * single.abs().amax((1, 2)).clamp_min(1.0)).all()):
        name = type(evidence.model).__name__
        raise PluginError(f"model {name} provides '{LINEAR}', but its logits are not linear in attention")


def odds_of_units(evidence: Evidence, single: Tensor) -> Tensor:
    """[B, L] log-odds of the predicted class when a single unit has all attention."""
    return log_odds(single, evidence.trace.predicted[:, None].expand(single.shape[:2]))


def log_odds(logits: Tensor, predicted: Tensor) -> Tensor:
    """[...] of the predicted class [...] against all others, in double precision, from logits [..., C]."""
    own = predicted[..., None]
    rest = logits.double().scatter(-1, own, -torch.inf).logsumexp(-1)
    return logits.double().gather(-1, own)[..., 0] - rest
