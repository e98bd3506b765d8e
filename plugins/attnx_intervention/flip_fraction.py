import torch
from torch import Tensor

from attnx.formulas import ranked
from attnx.plugin import Evidence, Measure, Metric

from .reattending import alternatives_at_once, without


class FlipFraction(Metric):
    """Share of units that must be removed, most important first, until the prediction flips.

    Attention weights are set to 0 in the order of the explanation and attention is renormalised, until
    the predicted class changes. Reported: the fraction of units (words, image patches, ...) removed
    (lower is better), the share of attention mass removed, and whether the prediction never flips. If the
    remaining units have no weight, they share attention equally. An example that never flips has no
    fraction. A smaller mass is not better, because removing units without weight can flip a prediction
    that should not depend on them. Undefined for examples with one unit. Serrano and Smith compare four
    rankings: attention, attention-gradient, attention-x-gradient and random; each is an explanation here.
    Costs up to one pass of the decoder per unit.
    """

    needs = ("reattend",)
    family = "intervention"
    sees = "attention layer"
    cost = "no pass through the encoder: only attention is changed"
    cannot = (
        "how explanations compare if they flip different examples: it is a mean over the examples that flip"
    )
    measures = (
        Measure("fraction", "down", (0, 1)),
        Measure("mass", "none", (0, 1)),
        Measure("never", "none", (0, 1)),
    )

    def __call__(self, evidence: Evidence) -> Tensor:
        a, units = evidence.trace.attention, evidence.trace.batch.mask.sum(1)  # [B, L], [B]
        order = ranked(evidence)  # [B, L]
        flips = _flips(evidence, order.argsort(1))  # [B, K]
        never = ~flips.any(1)
        first = flips.int().argmax(1)  # [B] one less than the number of units removed
        fraction = (first + 1) / units
        mass = a.double().gather(1, order).cumsum(1).gather(1, first[:, None])[:, 0]
        values = torch.stack([fraction.double(), mass.clamp_max(1.0)], dim=1)
        values = values.masked_fill(never[:, None], torch.nan)
        values = torch.cat([values, never.double()[:, None]], dim=1)  # [B, 3]
        return values.masked_fill((units < 2)[:, None], torch.nan)


def _flips(evidence: Evidence, place: Tensor) -> Tensor:
    """Return [B, K] whether the prediction differs after k = 1..K removals; `place` [B, L] ranks units."""
    a, predicted = evidence.trace.attention, evidence.trace.predicted[:, None]
    counts = torch.arange(1, max(2, a.shape[1]), device=a.device)  # [K] all but one, at least one
    found = []
    for k in counts.split(alternatives_at_once(a)):
        weights = without(evidence, place[:, None] < k[:, None])  # [B, k, L]
        logits = evidence.model.reattend(evidence.trace, weights)  # [B, k, C]
        found.append((logits.argmax(-1) != predicted) & ~logits.isnan().any(-1))
    return torch.cat(found, dim=1)
