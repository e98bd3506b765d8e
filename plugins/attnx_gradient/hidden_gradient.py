from dataclasses import replace

import torch
from torch import Tensor

from attnx.formulas import Randomness, class_output
from attnx.plugin import Model, Trace

from .gradient import Gradient


class HiddenGradient(Gradient):
    """Size of the gradient of the predicted probability with respect to each unit's hidden state.

    The same as `gradient` with the hidden state h_i in place of the embedding: ‖∂p_ŷ/∂h_i‖₂ divided by
    its sum over units (words, image patches, ...), or gradient·h_i with the `reduce` options that use the
    embedding. Higher is more important. Costs one forward and one backward pass from the hidden states
    on. Each hidden state mixes several units, so a score belongs to a position rather than to its unit
    alone.
    """

    needs = ("gradient", "hidden", "decode")
    passes = 0  # from the hidden states on

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        hidden = trace.hidden.detach().requires_grad_()  # [B, L, H]
        if self.options.attention == "fixed":
            logits = model.reattend(replace(trace, hidden=hidden), trace.attention.detach())  # [B, C]
        else:
            _, _, logits = model.decode(trace.batch, hidden)
        (gradient,) = torch.autograd.grad(class_output(logits, target, self.options.of).sum(), hidden)
        return self.sizes(gradient, trace.hidden, trace.batch.mask)
