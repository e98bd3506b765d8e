import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import KernelShapOptions
from .subsets import Subsets, subset_scores

HELD = 1e6  # weight of the full and the empty subset; Captum's KernelShap uses it for infinity


class KernelShap(ImportanceMethod):
    """Kernel SHAP: approximate Shapley values of the units, by regression on random subsets.

    A subset of s of the n units (words, image patches, ...) keeps their embeddings; the others get the
    baseline B. Sizes are drawn in proportion to the Shapley kernel (n − 1)/(s(n − s)). The full and the
    empty subset have a very large weight, so that the scores add up to p(X) − p(B) almost exactly.
    Signed: positive scores support the class. Costs one forward pass per sample, less for LSTMs;
    with few samples the scores are noisy.
    """

    def __init__(self, options: KernelShapOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute
        self.passes = options.samples

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        return subset_scores(draw, "linear", 0.0, model, trace, target, random, self.options)


def draw(by_unit: Tensor, by_subset: Tensor) -> Subsets:
    """Draw the full subset, the empty one, and then random subsets whose size follows the kernel."""
    n = by_unit.shape[1]
    s = torch.arange(1, n, device=by_unit.device, dtype=by_unit.dtype)
    kernel = (1 / (s * (n - s))).cumsum(0)  # [n − 1]
    sizes = 1 + torch.searchsorted(kernel, by_subset * kernel[-1], right=True)  # [S]
    sizes = sizes.clamp_max(n - 1)  # a product may be rounded up to the end
    sizes[:2] = torch.tensor([n, 0])
    present = (by_unit.argsort(1).argsort(1) < sizes[:, None]).float()  # [S, n]
    weights = torch.ones_like(present[:, 0])
    weights[:2] = HELD
    return Subsets(present, weights)
