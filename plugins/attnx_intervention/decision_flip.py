import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric

from .ranking import top_and_other
from .reattending import logits_under, without


class DecisionFlip(Metric):
    """Whether the decision flips without the top unit, and without a random one.

    A table of two by two: the argmax changes when the weight of the explanation's top unit i* is
    set to 0 and attention renormalised, when that of a unit r drawn from the others is, both, or
    neither. i* and r are those of `delta-js`. Undefined for an only unit: nothing is left without it.
    """

    needs = ("reattend",)
    family = "intervention"
    sees = "attention layer"
    measures = (
        Measure("both", "none", (0, 1)),
        Measure("top-only", "up", (0, 1)),
        Measure("random-only", "down", (0, 1)),
        Measure("neither", "none", (0, 1)),
    )

    def __call__(self, evidence: Evidence) -> Tensor:
        a = evidence.trace.attention
        removed = torch.nn.functional.one_hot(top_and_other(evidence), a.shape[1]).bool()  # [B, 2, L]
        logits = logits_under(evidence, without(evidence, removed))  # [B, 2, C]
        flipped = logits.argmax(-1) != evidence.trace.predicted[:, None]  # [B, 2]
        top, other = flipped.unbind(1)
        cells = torch.stack([top & other, top & ~other, ~top & other, ~top & ~other], dim=1)  # [B, 4]
        undefined = logits.isnan().any(2).any(1)
        return cells.double().masked_fill(undefined[:, None], torch.nan)
