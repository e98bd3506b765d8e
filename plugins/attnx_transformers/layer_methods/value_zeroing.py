import torch
from torch import Tensor
from torch.nn import functional as F

from attnx.formulas import LayerState, LayerStates, Randomness, passes_at_once
from attnx.plugin import ImportanceMethod, Model, Trace

from ..layer_scores import by_word, query_of
from ..options import LayerOptions
from .state_mixing import rows_to_one, scores_in_parts, through_layers


class ValueZeroing(ImportanceMethod):
    """Value zeroing: how much the states of each layer change when a position hands on nothing.

    C_l[i, j] = 1 − cos(h_i with v_j = 0, h_i), where h are the states that layer l gives and v_j is the value
    of position j in all its heads; rows are brought to 1. The score is the row of the query in Π_l C_l,
    summed over the pieces of a unit (a word, an image patch, ...). It explains where states come from,
    whatever the class. Never negative. Costs about one forward pass per position. It measures angles, so a
    change of length alone is not seen.
    """

    needs = ("layer-states",)
    passes = "units"
    target_use = "ignored"

    def __init__(self, options: LayerOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        return scores_in_parts(model, trace, target, self._scores)

    def _scores(self, states: LayerStates, trace: Trace, target: Tensor) -> Tensor:
        used = states.column >= 0  # [B, T]
        mixing = [_changes(layer, used) for layer in states.layers]
        row = through_layers(query_of(states, self.options).to(mixing[0]), mixing)
        return by_word(row, states, trace, self.options)


def _changes(layer: LayerState, used: Tensor) -> Tensor:
    """[B, T, T] how much the state of each position changes without the value of each, rows to 1."""
    rows, positions = used.nonzero(as_tuple=True)  # [R] each
    own = layer.states.double()
    changes = torch.zeros(*used.shape, used.shape[1], dtype=torch.float64, device=used.device)
    for some in torch.arange(len(rows), device=rows.device).split(passes_at_once(used.shape[1])):
        at, zeroed = rows[some], positions[some]
        without = layer.without_value(at, zeroed).double()  # [r, T, H]
        turned = 1 - F.cosine_similarity(without, own[at], dim=-1)  # [r, T]
        changes[at, :, zeroed] = turned.masked_fill(turned < ROUNDING, 0.0)
    return rows_to_one(changes)


ROUNDING = 1e-6  # of a cosine of states in single precision: a smaller change is none
