from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace


class Attention(ImportanceMethod):
    """The attention weights themselves."""

    needs = ("attention",)

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        return trace.attention
