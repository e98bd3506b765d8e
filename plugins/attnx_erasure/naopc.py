import torch
from torch import Tensor

from attnx.formulas import ranked
from attnx.plugin import Evidence, Measure, Metric

from .erasure_curve import probability_falls, set_sizes
from .options import DeletionOptions
from .order_search import FirstTries, best_order
from .removals import Deleting

FLAT = 1e-6  # of probabilities: if no order moves the output further than this, none is better


class NormalisedAopc(Metric):
    """Comprehensiveness as a share of the way from the worst to the best order of deletion (NAOPC).

    (AOPC − L) / (U − L), where AOPC is the mean over shares of p_ŷ(x) − p_ŷ(x without its top ⌈share·n⌉
    units), and U and L are the highest and the lowest AOPC of all orders in which the units (words, image
    patches, ...) of this example can be deleted. So models and examples that react to deletion more or
    less can be compared. U and L are found by a greedy search from set size to set size that tries the 12
    most promising units again at each (the paper uses a beam of 5 over every size); the explanation's own
    order counts too, so the value is between 0 and 1. `upper` and `lower` are U and L. Undefined where all
    orders do the same, and for examples with fewer than two units.
    """

    needs = ("deletion",)
    family = "erasure"
    sees = "units"
    cost = (
        "about leave-one-out plus 24 forward passes per share, once for all explanations, and one pass per "
        "share for each"
    )
    cannot = (
        "that U and L are the true extremes, as the search may miss them; and whether shortened examples "
        "are unlike any training example"
    )
    measures = (
        Measure("naopc", "up", (0, 1)),
        Measure("upper", "none", (-1, 1)),
        Measure("lower", "none", (-1, 1)),
    )

    def __init__(self, options: DeletionOptions) -> None:
        self.bins = options.bins
        self.passes = 25 * len(options.bins)

    def __call__(self, evidence: Evidence) -> Tensor:
        batch, target = evidence.trace.batch, evidence.explanation.target
        p = evidence.trace.logits.double().softmax(-1).gather(1, target[:, None])[:, 0]  # [B]
        removal, windows = Deleting(evidence.model, batch, target), FirstTries.of(batch.mask, "delete")
        sizes = set_sizes(batch.mask, self.bins)  # [B, T]

        def fall(rows: Tensor, sets: Tensor) -> Tensor:
            return (p[rows] - removal.probabilities(rows, sets, (0,))[:, 0]).nan_to_num()  # [R]

        effect = windows.spread(fall(windows.rows, windows.sets))  # [B, L]
        best = best_order(batch.mask, sizes, effect, fall)
        worst = best_order(batch.mask, sizes, -effect, lambda rows, sets: -fall(rows, sets))
        orders = [ranked(evidence), best.argsort(1, descending=True), worst.argsort(1, descending=True)]
        aopc = torch.stack([self._aopc(evidence, sizes, order.argsort(1)) for order in orders])  # [3, B]
        lower, upper = aopc.aminmax(dim=0)
        way = (upper - lower).masked_fill(upper - lower <= FLAT, torch.nan)
        return torch.stack([(aopc[0] - lower) / way, upper, lower], dim=1)  # [B, 3]

    def _aopc(self, evidence: Evidence, sizes: Tensor, place: Tensor) -> Tensor:
        """[B] the AOPC of the order that gives each column its place [B, L]."""
        deleted = (place[:, None] < sizes[..., None]) & evidence.trace.batch.mask[:, None]  # [B, T, L]
        return probability_falls(evidence, deleted).mean(1)
