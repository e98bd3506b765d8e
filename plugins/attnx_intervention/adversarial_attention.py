import math

import torch
from torch import Tensor

from attnx.formulas import js_divergence, total_variation
from attnx.plugin import Evidence, Measure, Metric

from .adversary import search
from .decoders import LINEAR, change_of, log_odds, logits_of_units, odds_of_units, require_linear
from .options import AdversarialAttentionOptions
from .reattending import probabilities_under
from .triangles import farthest_triangle
from .vertices import farthest

SPREAD = 3.0  # standard deviation of the scores a search starts from
INSIDE = 1 - 1e-3  # of the allowed change: leaves a margin for rounding when the output is computed again
SHARED = 1e-3  # share of a starting mixture that is spread over all units: a weight of 0 could not grow


class AdversarialAttention(Metric):
    """How far attention can move without changing the output (adversarial attention).

    `max-jsd`, the ε-max JSD, is the largest JS(α, a) in nats between the model's attention a over the
    units (words, image patches, ...) and an attention α whose output p_α satisfies TV(p, p_α) ≤ ε. The
    range is 0 to ln 2 ≈ .69; lower is better: very different attention with the same output cannot be the
    explanation of that output. `exact` is 1 where the value is exact and 0 where it is a lower bound.

    With two classes and logits that are linear in attention the value is exact: TV ≤ ε keeps the log-odds
    Σ_i α_i·o_i between two bounds, and JS is convex, so the farthest α is a single unit or a mixture of
    two.

    Otherwise it is searched for, and the result is a lower bound: K attentions α_k = softmax(z_k) ascend
    Σ_k JS(α_k, a) + Σ_{j<k} JS(α_j, α_k) / K(K−1) − 500·Σ_k max(0, TV(p, p_k) − ε) with Adam. Some start
    from z_k = log(1/n) + 3·N(0, 1), others from mixtures that would be the farthest if the decoder were
    linear: of two units, which keep the log-odds of the predicted class, and with three classes of three
    units, which keep the logits. If no search ends within ε, the value is 0. The search is expensive:
    hundreds of steps per example.
    """

    needs = ("reattend", "gradient")
    family = "intervention"
    sees = "attention layer"
    cost = "a search over attention for each example; the encoder is not run again"
    cannot = (
        "whether the model uses other units: other attention may give the same output because the encoder "
        "has already mixed the units"
    )
    reads_explanation = False
    passes = 20  # of a small encoder, where it must search
    measures = (
        Measure("max-jsd", "down", (0, math.log(2))),
        Measure("exact", "none", (0, 1)),
    )

    def __init__(self, options: AdversarialAttentionOptions) -> None:
        self.options = options

    def __call__(self, evidence: Evidence) -> Tensor:
        single = logits_of_units(evidence)  # [B, L, C]
        exact = single.shape[-1] == 2 and LINEAR in evidence.model.provides
        jsd = self._exact(evidence, single) if exact else self._searched(evidence, single)  # [B]
        values = torch.stack([jsd, torch.full_like(jsd, exact)], dim=1)
        return values.masked_fill(~evidence.trace.batch.mask.any(1, keepdim=True), torch.nan)

    def _exact(self, evidence: Evidence, single: Tensor) -> Tensor:
        """[B] the ε-max JSD."""
        a = evidence.trace.attention.double()
        a = a / a.sum(1, keepdim=True).clamp_min(0.5)  # exactly 1, or 0 where there are no units
        odds = odds_of_units(evidence, single)  # [B, L]
        epsilon = allowed_change(evidence, self.options)
        found = mixtures(evidence, odds, (a * odds).sum(1), epsilon, 1)  # [B, 1, L]
        found = torch.where(found.isnan(), a[:, None], found)
        require_linear(evidence, single, found.to(single))
        return js_divergence(a, found[:, 0])

    def _searched(self, evidence: Evidence, single: Tensor) -> Tensor:
        """[B] a lower bound of the ε-max JSD."""
        options, weights = self.options, evidence.trace.attention
        scores = starts(evidence, single, options).to(weights)  # [B, K, L]
        change = change_of(evidence, single)
        epsilon = allowed_change(evidence, options)
        found, success = search(
            weights, scores, change, epsilon * INSIDE, options.steps, options.learning_rate
        )
        if options.mixtures:  # never worse than a mixture that is known to keep the output
            known = _of_three_units(evidence, single)[:, None].to(found)  # [B, 1, L]
            success = torch.cat([success, ~known.isnan().any(-1)], dim=1)
            found = torch.cat([found, torch.where(known.isnan(), weights[:, None], known)], dim=1)
        p = evidence.trace.logits.double().softmax(-1)[:, None]  # [B, 1, C]
        moved = total_variation(p, probabilities_under(evidence, found))  # [B, K]
        success = success & (moved <= epsilon)
        return js_divergence(weights.double()[:, None], found.double()).masked_fill(~success, 0.0).amax(1)


def allowed_change(evidence: Evidence, options: AdversarialAttentionOptions) -> float:
    """Return ε: the option, or the values of Jain and Wallace with and without a query."""
    usual = 0.01 if evidence.trace.batch.query is None else 0.05
    return usual if options.epsilon is None else options.epsilon


def mixtures(evidence: Evidence, odds: Tensor, now: Tensor, epsilon: float, count: int) -> Tensor:
    """Return [B, K, L] the farthest attentions that change the predicted probability by at most ε.

    The log-odds are `now` [B] under the model's attention and `odds` [B, L] under single units, and are
    treated as linear in between. Each next attention excludes the unit that has most of the previous one;
    NaN if there is none.
    """
    trace, p = evidence.trace, now.sigmoid()
    low = torch.logit((p - epsilon).clamp_min(0))  # −inf where nothing is too low
    high = torch.logit((p + epsilon).clamp_max(1))
    among, found = trace.batch.mask, []
    for _ in range(count):
        found.append(farthest(trace.attention, odds, low, high, among))
        among = among & ~(found[-1] >= 0.5)
    return torch.stack(found, dim=1)


def starts(evidence: Evidence, single: Tensor, options: AdversarialAttentionOptions) -> Tensor:
    """Return [B, K, L] starting scores, −inf off the mask: mixtures if there are any, then random ones."""
    mask = evidence.trace.batch.mask.double()[:, None]  # [B, 1, L]
    random = random_starts(evidence, options.adversaries)
    count = min(options.mixtures, options.adversaries)
    if count == 0:
        return random
    odds, now = odds_of_units(evidence, single), log_odds(evidence.trace.logits, evidence.trace.predicted)
    mixed = mixtures(evidence, odds, now, allowed_change(evidence, options), count)  # [B, M, L]
    of_three = _of_three_units(evidence, single)  # [B, L]
    mixed[:, -1] = torch.where(of_three.isnan(), mixed[:, -1], of_three)
    even = mask / mask.sum(-1, keepdim=True).clamp_min(1)
    scores = torch.log((1 - SHARED) * mixed + SHARED * even)
    first = torch.where(mixed.isnan(), random[:, :count], scores)
    return torch.cat([first, random[:, count:]], dim=1)


def _of_three_units(evidence: Evidence, single: Tensor) -> Tensor:
    """Return [B, L] the farthest mixture of three units that keeps three classes' logits; NaN if none."""
    trace = evidence.trace
    if single.shape[-1] != 3:
        return torch.full_like(trace.attention, torch.nan, dtype=torch.float64)
    return farthest_triangle(trace.attention, single, trace.logits, trace.batch.mask)


def random_starts(evidence: Evidence, count: int) -> Tensor:
    """Return [B, K, L] normal scores, −inf off the mask; softmax ignores the constant log(1/n)."""
    mask = evidence.trace.batch.mask
    u = evidence.random.to("starts").uniform(evidence.trace.batch, count)  # [B, K, L]
    normal = torch.special.ndtri(u.clamp(2.0**-54, 1 - 2.0**-53))
    outside = ~mask & mask.any(1, keepdim=True)  # an example without units cannot be masked
    return (SPREAD * normal).masked_fill(outside[:, None], -torch.inf)
