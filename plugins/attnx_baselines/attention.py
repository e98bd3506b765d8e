from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace


class Attention(ImportanceMethod):
    """The model's attention weights.

    The weight a_i of each unit (a word, an image patch, ...), at least 0, with sum 1. It costs nothing
    beyond the forward pass.
    """

    needs = ("attention",)
    target_use = "ignored"

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        return trace.attention
