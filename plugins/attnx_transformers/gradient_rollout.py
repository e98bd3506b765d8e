from typing import cast

import torch
from torch import Tensor

from attnx.formulas import Randomness, class_output
from attnx.plugin import ImportanceMethod, LayeredModel, Model, Trace

from .layer_scores import by_word, query_of
from .options import LayerOptions


class GradientRollout(ImportanceMethod):
    """Attention of all layers multiplied, each weight scaled by its effect on the class.

    The row of the query in Π_l (I + Ā_l) with Ā_l = mean over heads of max(0, ∂y/∂A_lm ⊙ A_lm), y
    the logit of the explained class.
    """

    needs = ("gradient", "layers")

    def __init__(self, options: LayerOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        embeddings = trace.embeddings.detach().requires_grad_()
        layers = cast("LayeredModel", model).layers(trace.batch, embeddings)
        output = class_output(layers.logits, target, "logit").sum()  # examples do not see each other
        gradients = torch.autograd.grad(output, layers.weights)  # each [B, M, T, T]
        row = query_of(layers, self.options).detach()  # [B, T]
        for weights, gradient in zip(reversed(layers.weights), reversed(gradients), strict=True):
            relevant = (gradient * weights.detach()).clamp_min(0).mean(1)  # [B, T, T]
            row = row + torch.bmm(row[:, None], relevant)[:, 0]
        return by_word(row, layers, trace, self.options)
