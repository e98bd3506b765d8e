import torch
from attnx.plugin import Evidence, Measure, Metric
from torch import Tensor

from .kendall import agreement
from .options import KendallTopKOptions


class KendallTopK(Metric):
    """Kendall's τ-b where each score orders only its k largest values and the rest tie below them.

    With k of at least the number of units it is Kendall's τ-b. Values equal to the k-th largest are
    all kept.
    """

    needs = ("reference",)
    family = "agreement"
    sees = "scores"
    measures = (Measure("tau", "up", (-1, 1)),)

    def __init__(self, options: KendallTopKOptions) -> None:
        self.k = options.k

    def __call__(self, evidence: Evidence) -> Tensor:
        mask = evidence.trace.batch.mask
        scores = (evidence.explanation.values, evidence.reference.values)
        x, y = (self._top(values.double(), mask).cpu().numpy() for values in scores)  # [B, L]
        return torch.from_numpy(agreement(x, y, mask.cpu().numpy())[0])  # [B]

    def _top(self, values: Tensor, mask: Tensor) -> Tensor:
        """[B, L] values with all but the k largest set to one value below them."""
        inside = values.masked_fill(~mask, -torch.inf)
        k = min(self.k, values.shape[1])
        least = inside.topk(k, dim=1).values[:, -1:]  # [B, 1], −∞ where there are fewer than k units
        floor = values.masked_fill(~mask, torch.inf).amin(1, keepdim=True) - 1
        return torch.where(values >= least, values, floor)
