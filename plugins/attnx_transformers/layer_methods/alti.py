from torch import Tensor

from attnx.formulas import LayerStates, Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from ..layer_scores import by_word, query_of
from ..options import LayerOptions
from .contributions import contributions
from .state_mixing import scores_in_parts, through_layers


class Alti(ImportanceMethod):
    """ALTI: how much of each layer's states comes from each position, multiplied over the layers.

    The state after attention is a sum y_i = Σ_j T_i(x_j) + bias, with the residual in T_i(x_i) and the
    normalisation that follows linearised. C_l[i, j] ∝ max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁), rows to 1. The
    score is the row of the query in Π_l C_l, summed over the pieces of a unit (a word, an image patch,
    ...). It explains where states come from, whatever the class. Never negative. Costs one forward pass.
    Feed-forward layers are taken to keep positions apart, which they do, and otherwise ignored.
    """

    needs = ("layer-states",)
    passes = 1
    target_use = "ignored"

    def __init__(self, options: LayerOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        return scores_in_parts(model, trace, target, self._scores)

    def _scores(self, states: LayerStates, trace: Trace, target: Tensor) -> Tensor:
        mixing = [contributions(layer) for layer in states.layers]
        row = through_layers(query_of(states, self.options).to(mixing[0]), mixing)
        return by_word(row, states, trace, self.options)
