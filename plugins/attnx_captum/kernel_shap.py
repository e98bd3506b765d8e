from captum import attr
from torch import Tensor

from attnx import ImportanceMethod, Model, Trace

from .options import KernelShapOptions
from .subsets import fitted_weights


class KernelShap(ImportanceMethod):
    """Shapley values of the units, by a regression on random subsets of them.

    Subsets of s of the n units are drawn in proportion to the Shapley kernel (n − 1)/(s(n − s)); the
    whole and the empty one are held nearly exactly, so that the values add up to p(X) − p(B).
    """

    def __init__(self, options: KernelShapOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor) -> Tensor:
        return fitted_weights(attr.KernelShap, model, trace, target, self.options)
