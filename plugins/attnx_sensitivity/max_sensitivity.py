import math

import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric

from .noise import with_noise
from .options import MaxSensitivityOptions


class MaxSensitivity(Metric):
    """How much the explanation changes at most when the embeddings change very little.

    The largest of ‖e(x′) − e(x)‖ / ‖e(x)‖ over random x′ whose embeddings differ from those of x by at most
    `radius` in every coordinate, where e are the scores of the units (words, image patches, ...) for the same
    class. 0 means that the explanation did not move. Undefined if all scores are 0, and for scores that were
    not computed by attnx.
    """

    needs = ("gradient",)
    family = "robustness"
    sees = "explanations"
    cost = "one more explanation per changed input, 10 by default"
    cannot = (
        "whether the explanation is faithful: constant scores never move; and if the output itself moves, a "
        "faithful explanation must move too. Models with embeddings of other sizes cannot be compared"
    )
    measures = (Measure("max-sensitivity", "down", (0, math.inf)),)

    def __init__(self, options: MaxSensitivityOptions) -> None:
        self.options = options
        self.passes = options.draws

    def __call__(self, evidence: Evidence) -> Tensor:
        batch, x = evidence.trace.batch, evidence.trace.embeddings
        own, target = evidence.explanation.values.double(), evidence.explanation.target
        if evidence.explainer is None:
            return torch.full_like(own[:, 0], torch.nan)
        largest = torch.zeros_like(own[:, 0])  # [B]
        for draw in range(self.options.draws):
            uniform = (
                evidence.random.to(f"input {draw}").uniform(batch, x.shape[2]).transpose(1, 2)
            )  # [B, L, E]
            noise = ((2 * uniform - 1) * self.options.radius).to(x)
            with with_noise(evidence.model, batch, noise) as trace:
                moved = evidence.explainer(evidence.model, trace, target).double() - own
            largest = torch.maximum(largest, moved.norm(dim=1))
        size = own.norm(dim=1)
        return largest / size.masked_fill(size == 0, torch.nan)
