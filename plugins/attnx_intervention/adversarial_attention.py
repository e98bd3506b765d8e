import math

import torch
from torch import Tensor

from attnx import Evidence, Measure, Metric, js_divergence, total_variation

from .adversary import search
from .decoders import change_of
from .options import AdversarialAttentionOptions
from .reattending import probabilities_under

SPREAD = 3.0  # standard deviation of the scores a search starts from
INSIDE = 1 - 1e-3  # of the allowed change: room for rounding when the output is computed anew


class AdversarialAttention(Metric):
    """How far attention can move while the output stays where it is.

    K attentions α_k = softmax(z_k), z_k from log(1/n) + 3·N(0, 1), ascend Σ_k JS(α_k, a) +
    Σ_{j<k} JS(α_j, α_k) / K(K−1) − 500·Σ_k max(0, TV(p, p_k) − ε) with Adam, in nats. Reported are
    the ε-max JSD, the largest JS(α_k, a) among attentions whose output is within ε of the model's,
    and the share of searches that found one; if none did, the model's own attention is the only one
    known to be, at distance 0. What a search finds is a lower bound of what there is.
    """

    needs = ("attention", "gradient")
    family = "intervention"
    sees = "attention layer"
    reads_explanation = False
    measures = (
        Measure("max-jsd", "down", (0, math.log(2))),
        Measure("adversaries", "none", (0, 1)),
    )

    def __init__(self, options: AdversarialAttentionOptions) -> None:
        self.options = options

    def __call__(self, evidence: Evidence) -> Tensor:
        options, weights = self.options, evidence.trace.attention
        scores = _starts(evidence, options.adversaries).to(weights)  # [B, K, L]
        change = change_of(evidence, scores.softmax(-1))
        allowed = options.epsilon * INSIDE
        found, success = search(weights, scores, change, allowed, options.steps, options.learning_rate)
        p = evidence.trace.logits.double().softmax(-1)[:, None]  # [B, 1, C]
        moved = total_variation(p, probabilities_under(evidence, found))  # [B, K]
        success = success & (moved <= options.epsilon)
        jsd = js_divergence(weights.double()[:, None], found.double()).masked_fill(~success, 0.0)  # [B, K]
        values = torch.stack([jsd.amax(1), success.double().mean(1)], dim=1)
        return values.masked_fill(~evidence.trace.batch.mask.any(1, keepdim=True), torch.nan)


def _starts(evidence: Evidence, count: int) -> Tensor:
    """[B, K, L] normal scores, −inf off the mask; log(1/n) is left out, as softmax does not see it."""
    mask = evidence.trace.batch.mask
    u = evidence.random.to("starts").uniform(evidence.trace.batch, count)  # [B, K, L]
    normal = torch.special.ndtri(u.clamp(2.0**-54, 1 - 2.0**-53))
    outside = ~mask & mask.any(1, keepdim=True)  # an example without units has nowhere to be masked
    return (SPREAD * normal).masked_fill(outside[:, None], -torch.inf)
