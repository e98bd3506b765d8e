"""The two cells of a bidirectional LSTM and what is read from their states, as its fast paths use them.

Direction D = 0 reads forward and D = 1 reads backward: its columns are in reverse order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnx.formulas import Scorer, product

from .encoders import Bidirectional


def both_ways(ahead: Tensor, back: Tensor) -> Tensor:
    """[D, n, ...] in the order of reading, from columns [n, ...] in the order of the text."""
    return torch.stack([ahead, back.flip(0)])


@dataclass(frozen=True, slots=True)
class Cells:
    """An LSTM cell for each direction, with each tanh(x) written as 2σ(2x) − 1: cheaper on a CPU.

    They keep 2c and h/2 instead of c and h, and the factors of 2 are included in their weights.
    """

    input_weight: Tensor  # [D, E, 4H], gates i, f, g, o
    bias: Tensor  # [D, 1, 4H]
    recurrent: Tensor  # [D, H, 4H]

    @classmethod
    def of(cls, encoder: Bidirectional) -> Cells:
        ahead, back = (dict(layer.named_parameters()) for layer in (encoder.ahead, encoder.back))
        weights = {name: torch.stack([ahead[name], back[name]]) for name in ahead}
        hidden = weights["weight_hh_l0"].shape[-1]
        twice_g = weights["weight_hh_l0"].new_ones(4 * hidden)
        twice_g[2 * hidden : 3 * hidden] = 2.0
        return cls(
            input_weight=weights["weight_ih_l0"].mT * twice_g,
            bias=(weights["bias_ih_l0"] + weights["bias_hh_l0"])[:, None] * twice_g,
            recurrent=weights["weight_hh_l0"].mT * 2 * twice_g,
        )

    def only(self, way: slice) -> Cells:
        """The cell of one direction."""
        return Cells(self.input_weight[way], self.bias[way], self.recurrent[way])

    @property
    def size(self) -> int:
        return self.recurrent.shape[1]

    def products(self, vectors: Tensor) -> Tensor:
        """Vectors [n, ..., E] times the input weights, [D, n, ..., 4H]."""
        flat = vectors.flatten(0, -2)
        ahead, back = (
            product(flat, weight).unflatten(0, vectors.shape[:-1]) for weight in self.input_weight.mT
        )
        return both_ways(ahead, back)

    def inputs(self, vectors: Tensor, padding: Tensor) -> Tensor:
        """Return what each column adds to the gates, [D, n, G, 4H].

        Padding closes the input gate, so the backward LSTM reaches the last word with an empty state.
        """
        x = self.products(vectors).add_(self.bias[:, None])
        x[..., : self.size].masked_fill_(both_ways(padding, padding), -torch.inf)
        return x

    def step(self, x: Tensor, h: Tensor, c: Tensor, scratch: Tensor) -> None:
        """Read one column [D, G, 4H] into states [D, R, G, H] in place; the gates fill `scratch`."""
        gates = scratch[: 4 * h.numel()].view(*h.shape[:3], -1)  # [D, R, G, 4H] without holes
        entering = gates.copy_(x[:, None]).flatten(1, 2)  # [D, R·G, 4H]
        for way, weight in enumerate(self.recurrent.mT):
            torch.sigmoid(product(h[way].flatten(0, 1), weight, entering[way]), out=entering[way])
        i, f, g, o = gates.chunk(4, -1)
        c.mul_(f).addcmul_(i, g, value=4).sub_(i, alpha=2)  # 2c ← f·2c + 2·i·(2g − 1)
        torch.sigmoid(c, out=h)
        h.sub_(0.5).mul_(o)  # h/2 ← o·tanh(c)/2


@dataclass(frozen=True, slots=True)
class Reader:
    """Everything that is read from a hidden state: its features for the scorer and its share of the logits.

    Both are affine in the state, so they are sums of what each direction's half of it contributes.
    """

    scorer: Scorer
    features: int  # F
    weights: Tensor  # [D, H/2, F + C], or [D, G, H/2, F + C] where it depends on the example
    bias: Tensor  # [F + C] or [G, F + C]
    offset: Tensor  # [C] or [G, 1, C] what the logits are without any state

    @classmethod
    def of(cls, scorer: Scorer, decoder: nn.Linear, query: Tensor | None) -> Reader:
        weight, bias = scorer.affine(query)  # [F, H] or [G, F, H]
        hidden = weight.shape[-1]
        of_state = decoder.weight[:, :hidden]  # [C, H]
        both = torch.cat([weight, of_state.expand(*weight.shape[:-2], -1, -1)], -2)  # [F + C, H]
        offset: Tensor = decoder.bias
        if query is not None:
            offset = (offset + query @ decoder.weight[:, hidden:].T)[:, None]
        return cls(
            scorer=scorer,
            features=weight.shape[-2],
            weights=torch.stack(both.mT.chunk(2, -2)),
            bias=F.pad(bias, (0, decoder.out_features)),
            offset=offset,
        )

    def only(self, way: slice) -> Reader:
        """What is read of one direction."""
        return replace(self, weights=self.weights[way])

    def unchanged(self, hidden: Tensor) -> Tensor:
        """What the other direction of states [n, G, H] contributes, with the bias: [D, n, G, F + C]."""
        ahead, back = hidden.chunk(2, -1)
        return both_ways(
            read_states(back, self.weights[1]) + self.bias, read_states(ahead, self.weights[0]) + self.bias
        )

    def split(self, read: Tensor) -> tuple[Tensor, Tensor]:
        """Scores [...] and shares of the logits [..., C] from what was read, [..., F + C]."""
        return self.scorer.head(read[..., : self.features]), read[..., self.features :]


def read_states(states: Tensor, weights: Tensor) -> Tensor:
    """States [..., R, G, H] times weights [..., H, F] or [..., G, H, F]."""
    if weights.ndim == states.ndim - 1:
        flat = states.flatten(-3, -2)
        if flat.ndim == 2:
            return product(flat, weights.mT).unflatten(-2, states.shape[-3:-1])
        found = [product(some, weight.mT) for some, weight in zip(flat, weights, strict=True)]
        return torch.stack(found).unflatten(-2, states.shape[-3:-1])
    return torch.einsum("...rgh,...ghf->...rgf", states, weights)
