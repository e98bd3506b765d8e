from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import RandomOptions


class Random(ImportanceMethod):
    """Random scores, drawn uniformly from the simplex for each example.

    The scores are at least 0 and sum to 1. They depend on the example and the seed, not on the model, so
    all training runs are compared with the same random scores.
    """

    target_use = "ignored"

    def __init__(self, options: RandomOptions) -> None:
        self.randomness = Randomness(options.seed).to("random scores")

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        u = self.randomness.uniform(trace.batch)[:, 0]  # [B, L]
        exponential = -u.neg().log1p()  # −log(1 − u), finite as u < 1
        weights = exponential.masked_fill(~trace.batch.mask, 0.0)
        total = weights.sum(1, keepdim=True)
        return (weights / total.masked_fill(total == 0, 1.0)).to(trace.attention.dtype)
