import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import LimeOptions
from .subsets import Subsets, subset_scores


class Lime(ImportanceMethod):
    """LIME: weights of a linear model fitted to the output on random subsets of the units.

    Each subset keeps a unit (a word, an image patch, ...) with probability ½; the others get the
    baseline. A subset has the weight exp(−d²/2·width²), where d = 1 − √(kept/n) is its cosine distance to
    the full example. The only unit of an example gets p minus p without it. Signed: positive scores
    support the class. Costs one forward pass per sample, less
    for LSTMs; with few samples the scores are noisy.
    """

    def __init__(self, options: LimeOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute
        self.passes = options.samples

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        fit = self.options.regression, self.options.penalty
        return subset_scores(self._draw, *fit, model, trace, target, random, self.options)

    def _draw(self, by_unit: Tensor, by_subset: Tensor) -> Subsets:
        present = (by_unit < 0.5).float()  # [S, n]
        distance = 1 - present.mean(1).sqrt()  # [S]
        return Subsets(present, torch.exp(-(distance**2) / (2 * self.options.width**2)))
