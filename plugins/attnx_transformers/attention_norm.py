import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .layer_scores import by_word, layer_of
from .options import AttentionNormOptions
from .reading import heads_read


class AttentionNorm(ImportanceMethod):
    """Attention of one layer, each weight times the size of what it hands on.

    Σ_m ‖A_lm[q, i]·(v_i W_O)‖ over the heads m of layer l, from the query q to position i.
    """

    needs = ("layers",)
    target_use = "ignored"

    def __init__(self, options: AttentionNormOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        layer = layer_of(model, trace, self.options)
        (weights,), (sizes,) = layer.weights, layer.sizes  # [B, M, T, T] or [B, M, 1, T], [B, M, T]
        head = self.options.head
        heads = weights.new_ones(weights.shape[1]) if head == "sum" else heads_read(head, weights)  # [M]
        query = layer.query.to(weights)  # [B, T], or [B, 1]
        handed_on = torch.einsum("bq,m,bmqi,bmi->bi", query, heads, weights, sizes)  # [B, T]
        return by_word(handed_on, layer, trace, self.options)
