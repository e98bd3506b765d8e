import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .influence import shares_of_influence
from .options import InfluenceOptions


class InfluenceOnStates(ImportanceMethod):
    """Influence of each unit on the hidden states, measured by gradients.

    The score of unit i (a word, an image patch, ...) is Σ_p w_p g_{h_p}(x_i) / Σ_p w_p, where
    g_{h_p}(x_i) is ‖∂‖h_p‖₂/∂X_i‖₂ normalised over units i, and w_p is 1 or the attention a_p. Hidden
    states that no unit influences are left out; if none remain, all scores are 0. Higher is more
    important. It explains the hidden states and ignores the predicted class. Costs one backward pass per
    unit, less for LSTMs and small transformers.
    """

    needs = ("gradient", "hidden")
    passes = "units"
    target_use = "ignored"

    def __init__(self, options: InfluenceOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        values = torch.zeros_like(trace.attention)  # [B, L]
        for rows, part, g in shares_of_influence(model, trace):
            w = g.sum(2)  # [R, P] 1 for a hidden state that some unit influences, else 0
            if self.options.weight == "attention":
                w = w * part.attention
            total = w.sum(1, keepdim=True)
            mean = torch.bmm(w[:, None], g)[:, 0] / total.masked_fill(total == 0, 1.0)  # [R, L]
            values[rows, : mean.shape[1]] = mean.to(values.dtype)
        return values
