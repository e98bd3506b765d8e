import torch
from torch import Tensor

from attnx.formulas import LayerState, LayerStates, Randomness, at_once
from attnx.plugin import ImportanceMethod, Model, Trace, UsageError

from ..layer_scores import by_word
from ..options import AltiLogitOptions
from .contributions import contributions
from .state_mixing import scores_in_parts


class AltiLogit(ImportanceMethod):
    """ALTI-Logit: what the attention of every layer adds to the logit of the class, traced back to units.

    In a model that normalises before each layer, the last state is the first one plus what every layer
    added. Layer l adds g·T_q(x_j) to the logit, g its gradient with the last normalisation linearised, q the
    position that answers. What a state x_j of that layer is made of says the product of ALTI's
    contributions of the layers below; the first state itself counts for its own position. Summed over layers
    and over the pieces of a unit (a word, an image patch, ...). Signed: positive scores support the class.
    Costs one forward pass. What feed-forward layers add belongs to no unit and is left out. Models that
    normalise after their layers, such as BERT, have no such sum and are refused.
    """

    needs = ("layer-states",)
    passes = 1
    target_use = "linear"
    signed = True

    def __init__(self, options: AltiLogitOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        return scores_in_parts(model, trace, target, self._scores)

    def _scores(self, states: LayerStates, trace: Trace, target: Tensor) -> Tensor:
        if states.readout is None or any(layer.scale is not None for layer in states.layers):
            raise UsageError(
                "alti-logit needs a transformer that normalises before its layers and answers by a linear "
                "map, such as GPT-2 or Llama: use alti for this one."
            )
        everyone = torch.arange(len(target), device=target.device)
        gradient = states.readout[everyone, target]  # [B, T, H]
        first = states.layers[0].inputs
        total = (gradient * first).sum(-1).double()  # [B, T] what the first states add
        below = torch.eye(total.shape[1], dtype=torch.float64, device=total.device).expand(len(total), -1, -1)
        for layer in states.layers:
            added = _added(layer, gradient)  # [B, T]
            total = total + torch.bmm(added[:, None], below)[:, 0]
            below = torch.bmm(contributions(layer), below)
        return by_word(total, states, trace, self.options)


def _added(layer: LayerState, gradient: Tensor) -> Tensor:
    """[B, T] what attention to each position adds to the logit, without the residual."""
    added = torch.zeros(gradient.shape[:2], dtype=torch.float64, device=gradient.device)
    for rows in torch.arange(len(gradient), device=gradient.device).split(at_once(gradient[0].numel())):
        onto = torch.einsum("rih,rmjh->rmij", gradient[rows], layer.handed[rows])
        added[rows] = (onto * layer.weights[rows]).sum((1, 2)).double()
    return added
