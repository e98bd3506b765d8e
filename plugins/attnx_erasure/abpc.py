import torch
from torch import Tensor

from attnx.formulas import ranked
from attnx.plugin import Evidence, Measure, Metric

from .erasure_curve import probability_falls, set_sizes
from .options import DeletionOptions


class Abpc(Metric):
    """Area between the insertion and the deletion curve: p with only the top units − p without them.

    The deletion curve is p_ŷ(x without its top k units), the insertion curve p_ŷ(only the top k units of
    x), where units are words, image patches, ... . Both are taken at the set sizes ⌈share·n⌉ and at their
    complements n − ⌈share·n⌉. So the mean of p(only the top k) − p(without the top k) is the mean of
    p(without the bottom k) − p(without the top k), the area between the perturbation curves: 0 on average
    for a random order, and exactly its negative for the reversed one. `deletion-area` and `insertion-area`
    are the means of the two curves. Undefined for examples with fewer than two units.
    """

    needs = ("deletion",)
    family = "erasure"
    sees = "units"
    cost = (
        "four forward passes per share; half of them are those of comprehensiveness and sufficiency with the "
        "same shares, and are not run twice"
    )
    cannot = (
        "whether the output changed because these units matter, or because a shortened example is unlike any "
        "training example"
    )
    measures = (
        Measure("abpc", "up", (-1, 1)),
        Measure("deletion-area", "down", (0, 1)),
        Measure("insertion-area", "up", (0, 1)),
    )

    def __init__(self, options: DeletionOptions) -> None:
        self.bins = options.bins
        self.passes = 4 * len(options.bins)

    def __call__(self, evidence: Evidence) -> Tensor:
        mask, target = evidence.trace.batch.mask, evidence.explanation.target
        p = evidence.trace.logits.double().softmax(-1).gather(1, target[:, None])  # [B, 1]
        sizes = set_sizes(mask, self.bins)  # [B, T]
        sizes = torch.cat([sizes, mask.sum(1, keepdim=True) - sizes], 1)  # [B, 2T]
        top = (ranked(evidence).argsort(1)[:, None] < sizes[..., None]) & mask[:, None]  # [B, 2T, L]
        without, only = (p - probability_falls(evidence, gone) for gone in (top, mask[:, None] & ~top))
        areas = torch.stack([(only - without).mean(1), without.mean(1), only.mean(1)], dim=1)  # [B, 3]
        return areas.masked_fill(mask.sum(1, keepdim=True) < 2, torch.nan)
