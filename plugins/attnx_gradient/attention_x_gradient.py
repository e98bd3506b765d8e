from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import Model, Trace

from .attention_gradient import AttentionGradient


class AttentionXGradient(AttentionGradient):
    """Attention weight times the gradient of the predicted class with respect to it.

    a_i · ∂p_ŷ/∂a_i, signed.
    """

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        return trace.attention.detach() * super().__call__(model, trace, target, random)
