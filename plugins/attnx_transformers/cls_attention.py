from typing import cast

import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, LayeredModel, Model, Trace

from .layer_scores import by_word, query_of
from .options import ClsAttentionOptions
from .reading import heads_read, layer_read, normalised


class ClsAttention(ImportanceMethod):
    """Attention of one layer from the position that the model answers from.

    A_lm[q, i] of layer l and head m, or its mean over heads, from the query q to word i, made to add up
    to 1 over words.
    """

    needs = ("layers",)
    target_use = "ignored"

    def __init__(self, options: ClsAttentionOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        layers = cast("LayeredModel", model).layers(trace.batch, trace.embeddings)
        weights = layers.weights[layer_read(self.options.layer, layers.weights)]  # [B, M, T, T]
        heads = heads_read(self.options.head, weights)  # [M]
        row = torch.einsum("bq,m,bmqi->bi", query_of(layers, self.options), heads, weights)  # [B, T]
        return normalised(by_word(row, layers, trace, self.options), trace.batch.mask)
