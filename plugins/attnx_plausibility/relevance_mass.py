import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric


class RelevanceMass(Metric):
    """Share of the explanation's positive scores that is on the units that people marked.

    Σ_marked e⁺ / Σ e⁺, where e⁺ are the scores above 0 of units (words, image patches, ...). Equal scores get
    the share of units that are marked. Undefined if no score is above 0, if no unit is marked, or if the
    marks are unknown.
    """

    needs = ("rationale",)
    family = "ground-truth"
    sees = "rationale"
    cost = "nothing: no pass through the model"
    cannot = "whether the model uses these units: it may rightly use others than people marked"
    measures = (Measure("mass", "up", (0, 1)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        mask = evidence.trace.batch.mask
        marked = (evidence.trace.batch.rationale == 1) & mask  # [B, L], False where not known
        positive = evidence.explanation.values.double().clamp_min(0)  # [B, L], 0 off the mask
        total = positive.sum(1)
        undefined = (total == 0) | ~marked.any(1)
        return (positive * marked).sum(1) / total.masked_fill(undefined, torch.nan)  # [B]
