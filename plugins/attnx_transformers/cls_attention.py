import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .layer_scores import by_word, layer_of
from .options import ClsAttentionOptions
from .reading import heads_read, normalised


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
        layer = layer_of(model, trace, self.options)
        (weights,) = layer.weights  # [B, M, T, T], or [B, M, 1, T] from one position
        heads = heads_read(self.options.head, weights)  # [M]
        row = torch.einsum("bq,m,bmqi->bi", layer.query.to(weights), heads, weights)  # [B, T]
        return normalised(by_word(row, layer, trace, self.options), trace.batch.mask)
