import torch
from torch import Tensor

from attnx.formulas import Randomness, class_output
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import AttentionGradientOptions


class AttentionGradient(ImportanceMethod):
    """Gradient of the predicted probability with respect to each attention weight.

    ∂p_ŷ/∂a_i for unit i (a word, an image patch, ...), with the other weights and all hidden states held
    fixed. Signed: a positive score means that more weight on this unit raises the probability. Costs one
    forward and one backward pass of the decoder. It describes very small changes of a weight, not its
    removal.
    """

    needs = ("gradient", "reattend")
    signed = True

    def __init__(self, options: AttentionGradientOptions) -> None:
        self.options = options
        self.target_use = options.target_use

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        a = trace.attention.detach().requires_grad_()  # [B, L]
        output = class_output(model.reattend(trace, a), target, self.options.of)  # [B]
        (gradient,) = torch.autograd.grad(output.sum(), a)
        return gradient.masked_fill(~trace.batch.mask, 0.0)
