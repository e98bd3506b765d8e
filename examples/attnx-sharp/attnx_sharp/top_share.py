import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric


class TopShare(Metric):
    """Share of the explanation that its top unit holds."""

    family = "shape"
    measures = (Measure("top-share", "none", (0, 1)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        size = evidence.explanation.values.abs()  # [B, L]
        total = size.sum(1)
        return size.amax(1) / total.masked_fill(total == 0, torch.nan)  # [B]
