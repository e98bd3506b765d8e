import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric

from .ranking import top_and_other
from .reattending import logits_under, without


class DecisionFlip(Metric):
    """Whether the prediction flips without the top unit, compared with a random unit.

    The weight of the explanation's top unit i* (a word, an image patch, ...) is set to 0 and attention is
    renormalised; the same is done for a unit r drawn at random from the others. Each example falls into
    one of four cells: the predicted class changes for both, for i* only (`top-only`), for r only
    (`random-only`), or for neither. `top-only` should be high and `random-only` low. i* and r are the
    same as in `delta-js`. Hidden states are not recomputed. Undefined for examples with one unit. Costs
    two passes of the decoder.
    """

    needs = ("reattend",)
    family = "intervention"
    sees = "attention layer"
    cost = "no pass through the encoder: only attention is changed"
    cannot = "whether the top unit matters to the encoder, which is not run again"
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
