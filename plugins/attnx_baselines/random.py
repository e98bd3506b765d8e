from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import RandomOptions


class Random(ImportanceMethod):
    """A point drawn uniformly from the simplex for each example, whatever the model and its training.

    All trainings of a run have the same random scores beside them, so that they differ by what was
    trained and not by what was drawn.
    """

    def __init__(self, options: RandomOptions) -> None:
        self.randomness = Randomness(options.seed).to("random scores")

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        u = self.randomness.uniform(trace.batch)[:, 0]  # [B, L]
        exponential = -u.neg().log1p()  # −log(1 − u), finite as u < 1
        weights = exponential.masked_fill(~trace.batch.mask, 0.0)
        total = weights.sum(1, keepdim=True)
        return (weights / total.masked_fill(total == 0, 1.0)).to(trace.attention.dtype)
