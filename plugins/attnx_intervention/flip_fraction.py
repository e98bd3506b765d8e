import torch
from torch import Tensor

from attnx.formulas import ranked
from attnx.plugin import Evidence, Measure, Metric

from .reattending import alternatives_at_once, without


class FlipFraction(Metric):
    """How much must be removed, most important units first, until the decision flips.

    Weights are set to 0 in the order of the explanation, attention renormalised over the rest,
    until the argmax changes: the fraction of units removed, and of the attention's mass. Once those
    left have no weight, they share attention equally. An example whose decision stays to the last
    unit never flips; it is counted apart, and has no fraction. Less mass is no better: units that hold
    none can flip a decision that should not hang on them. Undefined for an example of one unit. The
    four rankings of Serrano and Smith are four explanations: attention, attention-gradient,
    attention-x-gradient and random.
    """

    needs = ("reattend",)
    family = "intervention"
    sees = "attention layer"
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
    """[B, K] whether the decision is another after k = 1..K removals; `place` [B, L] is each unit's rank."""
    a, predicted = evidence.trace.attention, evidence.trace.predicted[:, None]
    counts = torch.arange(1, max(2, a.shape[1]), device=a.device)  # [K] all but one, at least one
    found = []
    for k in counts.split(alternatives_at_once(a)):
        weights = without(evidence, place[:, None] < k[:, None])  # [B, k, L]
        logits = evidence.model.reattend(evidence.trace, weights)  # [B, k, C]
        found.append((logits.argmax(-1) != predicted) & ~logits.isnan().any(-1))
    return torch.cat(found, dim=1)
