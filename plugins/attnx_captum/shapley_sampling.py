import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import ShapleyOptions
from .order_contributions import mean_contributions


class ShapleySampling(ImportanceMethod):
    """Shapley values by sampling: what a unit adds to the output, averaged over random orders of the units.

    φ_i = mean over orders π of p(units before i in π, and i) − p(units before i in π); units (words, image
    patches, ...) that are not there have the baseline embedding. Every second order is the one before it
    backwards, so interactions of two units are shared exactly. Signed: positive scores support the class.
    They add up to p(X) − p(B). Costs one forward pass per unit and order, less for LSTMs; with few orders
    the scores are noisy.
    """

    def __init__(self, options: ShapleyOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute
        self.passes = 20.0 * options.orders  # of an example of twenty units

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        return mean_contributions(self._orders, model, trace, target, random, self.options)

    def _orders(self, trace: Trace, random: Randomness) -> Tensor:
        """Return [B, K, L] the place of each column in random orders; columns off the mask come last."""
        mask = trace.batch.mask[:, None]
        draws = random.uniform(trace.batch, (self.options.orders + 1) // 2)  # [B, K/2, L]
        both = torch.stack([draws, 1 - draws], dim=2).flatten(1, 2)[:, : self.options.orders]  # [B, K, L]
        return both.masked_fill(~mask, torch.inf).argsort(dim=2, stable=True).argsort(2)
