from torch import Tensor

from attnx import ImportanceMethod, Model, Trace


class Attention(ImportanceMethod):
    """The attention weights themselves."""

    needs = ("attention",)

    def __call__(self, model: Model, trace: Trace, target: Tensor) -> Tensor:
        return trace.attention
