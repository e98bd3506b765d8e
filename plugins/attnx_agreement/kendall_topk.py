import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric

from .kendall import agreement
from .options import KendallTopKOptions


class KendallTopK(Metric):
    """Kendall's τ-b that uses only the order of the k highest values of each score.

    In each score, all values below the k-th highest are set to one lower value, so they are tied. Values
    equal to the k-th highest keep their place. With k equal to the number of units (words, image patches,
    ...) or larger it is ordinary τ-b. The range is −1 to 1; higher means better agreement. Undefined for
    examples with fewer than two units, and if either score is constant or not finite.
    """

    needs = ("reference",)
    family = "agreement"
    sees = "scores"
    cost = "nothing but the reference: no pass through the model"
    cannot = "which of the two is right if they disagree, nor that they are right if they agree"
    measures = (Measure("tau", "up", (-1, 1)),)

    def __init__(self, options: KendallTopKOptions) -> None:
        self.k = options.k

    def __call__(self, evidence: Evidence) -> Tensor:
        mask = evidence.trace.batch.mask
        scores = (evidence.explanation.values, evidence.reference.values)
        x, y = (self._top(values.double(), mask).cpu().numpy() for values in scores)  # [B, L]
        return torch.from_numpy(agreement(x, y, mask.cpu().numpy())[0])  # [B]

    def _top(self, values: Tensor, mask: Tensor) -> Tensor:
        """Set all but the k largest values [B, L] to one value below them."""
        inside = values.masked_fill(~mask, -torch.inf)
        k = min(self.k, values.shape[1])
        least = inside.topk(k, dim=1).values[:, -1:]  # [B, 1], −∞ where there are fewer than k units
        floor = values.masked_fill(~mask, torch.inf).amin(1, keepdim=True) - 1
        return torch.where(values >= least, values, floor)
