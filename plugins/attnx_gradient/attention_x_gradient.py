from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import Model, Trace

from .attention_gradient import AttentionGradient


class AttentionXGradient(AttentionGradient):
    """Attention weight times the gradient of the predicted probability with respect to it.

    a_i · ∂p_ŷ/∂a_i for unit i (a word, an image patch, ...): about how much the probability would fall if
    the weight were removed. Signed: positive scores support the predicted class. Costs one forward and
    one backward pass of the decoder.
    """

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        return trace.attention.detach() * super().__call__(model, trace, target, random)
