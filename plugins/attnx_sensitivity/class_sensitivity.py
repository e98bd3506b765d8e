import torch
from torch import Tensor

from attnx.formulas import average_ranks, pearson
from attnx.plugin import Evidence, Measure, Metric


class ClassSensitivity(Metric):
    """Similarity of the explanation of the predicted class with that of the next most probable class.

    Spearman's rank correlation of the two explanations over the units (words, image patches, ...) of an
    example. An explanation of the prediction differs from that of another class, so lower is better.
    Explanations that do not depend on the class, such as attention, are 1 by construction, at no cost. With
    two classes a signed explanation of the probability is −1 and its absolute value 1, whatever the model
    does. Undefined if the scores for a class are all equal, and for scores that were not computed by attnx.
    """

    family = "randomisation"
    sees = "explanations"
    cost = "one more explanation, or nothing for explanations that do not depend on the class"
    cannot = (
        "whether either explanation is faithful; and with two classes it shows only whether scores have signs"
    )
    measures = (Measure("similarity", "down", (-1, 1)),)
    passes = 1

    def __call__(self, evidence: Evidence) -> Tensor:
        own, mask = evidence.explanation.values, evidence.trace.batch.mask
        if evidence.explainer is None:
            return torch.full_like(own[:, 0], torch.nan)
        if evidence.explainer.target_use == "ignored":
            return torch.ones_like(own[:, 0])
        target = evidence.explanation.target
        others = evidence.trace.logits.scatter(1, target[:, None], -torch.inf)  # [B, C]
        other = evidence.explainer(evidence.model, evidence.trace, others.argmax(1))
        return pearson(average_ranks(own, mask), average_ranks(other, mask), mask)
