from typing import cast

import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, LayeredModel, Model, Trace

from .layer_scores import by_word, query_of
from .options import LayerOptions


class Rollout(ImportanceMethod):
    """Attention of all layers multiplied, half of each layer's input passing by.

    The row of the query in Π_l Ã_l, where Ã_l is (mean_m A_lm + I)/2 with rows brought back to 1. It
    explains where states come from, whatever the class.
    """

    needs = ("layers",)
    target_use = "ignored"

    def __init__(self, options: LayerOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        layers = cast("LayeredModel", model).layers(trace.batch, trace.embeddings)
        row = query_of(layers, self.options)  # [B, T]
        for weights in reversed(layers.weights):
            same = torch.eye(weights.shape[-1], device=weights.device)
            mixed = (weights.mean(1) + same) / 2  # [B, T, T]
            mixed = mixed / mixed.sum(-1, keepdim=True)
            row = torch.bmm(row[:, None], mixed)[:, 0]
        return by_word(row, layers, trace, self.options)
