from typing import cast

import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, LayeredModel, Model, Trace

from .layer_scores import by_word, query_of
from .options import AttentionNormOptions
from .reading import heads_read, layer_read


class AttentionNorm(ImportanceMethod):
    """Attention of one layer, each weight times the size of what it hands on.

    Σ_m ‖A_lm[q, i]·(v_i W_O)‖ over the heads m of layer l, from the query q to position i.
    """

    needs = ("layers",)
    target_use = "ignored"

    def __init__(self, options: AttentionNormOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        layers = cast("LayeredModel", model).layers(trace.batch, trace.embeddings)
        layer = layer_read(self.options.layer, layers.weights)
        weights, sizes = layers.weights[layer], layers.sizes[layer]  # [B, M, T, T], [B, M, T]
        head = self.options.head
        heads = weights.new_ones(weights.shape[1]) if head == "sum" else heads_read(head, weights)  # [M]
        query = query_of(layers, self.options)  # [B, T]
        handed_on = torch.einsum("bq,m,bmqi,bmi->bi", query, heads, weights, sizes)  # [B, T]
        return by_word(handed_on, layers, trace, self.options)
