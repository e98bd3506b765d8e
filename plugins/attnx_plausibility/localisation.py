from __future__ import annotations

import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric

from .options import LocalisationOptions
from .plausibility import chosen_units


class Localisation(Metric):
    """How similar the explanation is to the region that people marked.

    `cosine` is the cosine similarity of the scores e with the marks (0 or 1): Σ_{marked} e_i / (‖e‖ √s),
    if s of n units (image patches, words, ...) are marked. Equal scores, which carry no information, have
    `uniform` = √(s/n), often more than half; `excess` = `cosine` − `uniform` corrects for that, and
    higher is better. For comparison: `top-k` is the cosine of the k highest scores, set to 1, with the
    marks, and `random-k` = √(k·s) / n is its exact mean for k random units. If units have the same size,
    such as image patches, the values are those of their pixels. Undefined if no unit is marked, if the
    marks are unknown, and if all scores are 0.
    """

    needs = ("rationale",)
    family = "ground-truth"
    sees = "rationale"
    cost = "nothing: no pass through the model"
    cannot = "whether the model uses these units: it may rightly use others than people marked"
    measures = (
        Measure("excess", "up", (-2, 1)),
        Measure("cosine", "none", (-1, 1)),
        Measure("uniform", "none", (0, 1)),
        Measure("top-k", "up", (0, 1)),
        Measure("random-k", "none", (0, 1)),
    )

    def __init__(self, options: LocalisationOptions) -> None:
        self.options = options

    def __call__(self, evidence: Evidence) -> Tensor:
        mask = evidence.trace.batch.mask
        marked = (evidence.trace.batch.rationale == 1) & mask  # [B, L], False where not known
        scores = evidence.explanation.values.double().masked_fill(~mask, 0.0)  # [B, L]
        units = mask.sum(1)
        k = (units * self.options.fraction).round().long().clamp_min(1)  # [B]
        top = chosen_units(evidence, k)
        cosine = _cosine(scores, marked)
        uniform = (marked.sum(1) / units.double()).sqrt()
        values = torch.stack(
            [
                cosine - uniform,
                cosine,
                uniform,
                _cosine(top.double(), marked),
                (k * marked.sum(1)).sqrt() / units.double(),
            ],
            dim=1,
        )  # [B, 5]
        defined = marked.any(1) & scores.any(1)
        return values.masked_fill(~defined[:, None], torch.nan)


def _cosine(scores: Tensor, marked: Tensor) -> Tensor:
    """Return [B] the cosine of scores [B, L] with marks [B, L]."""
    return torch.nn.functional.cosine_similarity(scores, marked.double(), dim=1, eps=0.0)
