from captum import attr
from captum._utils.models.linear_model import SkLearnLasso, SkLearnLinearRegression, SkLearnRidge
from captum._utils.models.model import Model as Regression
from captum.attr._core.lime import get_exp_kernel_similarity_function
from torch import Tensor

from attnx import ImportanceMethod, Model, Trace

from .options import LimeOptions
from .presence import OneExample
from .subsets import fitted_weights


class Lime(ImportanceMethod):
    """Weights of a linear model fitted to the output as units come and go.

    Each subset keeps a unit with probability ½, and counts by exp(−d²/2·width²), d = 1 − √(kept/n)
    being its cosine distance to the whole example. An only unit gets p − p without it.
    """

    def __init__(self, options: LimeOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor) -> Tensor:
        return fitted_weights(self._fit, model, trace, target, self.options)

    def _fit(self, example: OneExample) -> attr.Lime:
        kernel = get_exp_kernel_similarity_function("cosine", self.options.width)
        return attr.Lime(example, self._regression(), similarity_func=kernel)

    def _regression(self) -> Regression:
        match self.options.regression:
            case "ridge":
                return SkLearnRidge(alpha=self.options.penalty)
            case "lasso":
                return SkLearnLasso(alpha=self.options.penalty)
            case "linear":
                return SkLearnLinearRegression()
