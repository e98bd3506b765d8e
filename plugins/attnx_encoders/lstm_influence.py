"""The influence of every word on every hidden state of an LSTM, by one backward pass for all states.

The gradient of ‖h_p‖ enters at column p and flows back through the columns before it, in its own row. All
rows of several texts move together, each starting when its column is reached:

    column          t = 3    2    1    0
    row 3           seed ──────────────►
    row 2                seed ─────────►
    row 1                     seed ────►
    row 0                          seed

At every column, all rows that have started give their gradient with respect to its word vector, of which
the norm is kept. The backward LSTM does the same on reversed texts. Only the word of column p reaches h_p
through both directions, so only there are two gradients added before the norm is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnx.formulas import product, similar_lengths

from .encoders import Bidirectional, inside, mirror_columns

ROWS = 1024  # gradients that move together: enough to keep the processor busy, few enough for its cache


@torch.no_grad()
def lstm_influence(encoder: Bidirectional, vectors: Tensor, hidden: Tensor, lengths: Tensor) -> Tensor:
    """[B, P, L] ‖∂‖h_p‖₂/∂x_i‖₂ of word vectors x [B, L, E] and their hidden states h [B, L, H].

    0 where p or i is padding.
    """
    rows, columns, _ = vectors.shape
    sizes = vectors.new_zeros(rows, columns, columns)
    for some in similar_lengths(lengths, ROWS):
        n = int(lengths[some].max())
        x, h = vectors[some, :n], hidden[some, :n]  # [G, n, E], [G, n, H]
        mirror = mirror_columns(lengths[some], inside(lengths[some], n))  # [G, n]
        norm = _norm(h)[..., None]
        seeds = (h / norm.masked_fill(norm == 0, 1.0)).to(h.dtype)  # ∂‖h_p‖/∂h_p, 0 in padding
        h_ahead, h_back = h.chunk(2, -1)
        seeds_ahead, seeds_back = seeds.chunk(2, -1)
        ahead = _walk_back(encoder.ahead, x, h_ahead, seeds_ahead)
        back = _walk_back(
            encoder.back, _at(x, mirror), _at(h_back, mirror), _at(seeds_back, mirror)
        ).reordered(mirror)
        both = ahead.sizes + back.sizes  # [G, n, n] one of the two is 0 but on the diagonal
        own = _norm(ahead.own + back.own).to(both.dtype)  # [G, n]
        sizes[some, :n, :n] = both.diagonal_scatter(own, dim1=1, dim2=2)
    return sizes


def _at(values: Tensor, columns: Tensor) -> Tensor:
    """Values [G, n, ...] at other columns [G, n]."""
    return values.gather(1, columns[..., None].expand_as(values))


def _norm(values: Tensor) -> Tensor:
    """Norms over the last dimension; squares of the gradients of far words underflow in single precision."""
    return torch.linalg.vector_norm(values, dim=-1, dtype=torch.float64)


@dataclass(frozen=True, slots=True)
class _Gradients:
    """What one direction gives of ∂‖h_p‖/∂x_i."""

    sizes: Tensor  # [G, P, I] norms
    own: Tensor  # [G, P, E] the gradient itself where i = p

    def reordered(self, columns: Tensor) -> _Gradients:
        """The same with p and i at other columns [G, n]."""
        return _Gradients(_at(_at(self.sizes, columns).mT, columns).mT, _at(self.own, columns))


def _walk_back(layer: nn.Module, x: Tensor, h: Tensor, seeds: Tensor) -> _Gradients:
    """Gradients of ‖h_p‖ by backpropagation through time, from seeds ∂‖h_p‖/∂h_p [G, n, H]."""
    weights = dict(layer.named_parameters())
    of_inputs, of_states = weights["weight_ih_l0"], weights["weight_hh_l0"]  # [4H, E], [4H, H]
    slopes = _Slopes.of(weights, x, h)
    seeds = seeds.transpose(0, 1)  # [n, G, H]
    n, texts, hidden = seeds.shape
    sizes = x.new_zeros(n, n, texts)  # by (i, p)
    own = x.new_empty(n, texts, of_inputs.shape[1])
    dh, dc = x.new_empty(n, texts, hidden), x.new_zeros(n, texts, hidden)  # [P, G, H]
    gates = x.new_empty(n, texts, 4 * hidden)
    for t in reversed(range(n)):
        dh[t] = seeds[t]
        dh_t, dc_t, d_gates = dh[t:], dc[t:], gates[t:]
        dc_t.addcmul_(dh_t, slopes.cell[t])
        for part, (gradient, slope) in zip(
            d_gates.chunk(4, -1),
            ((dc_t, slopes.i), (dc_t, slopes.f), (dc_t, slopes.g), (dh_t, slopes.o)),
            strict=True,
        ):
            torch.mul(gradient, slope[t], out=part)
        d_words = product(d_gates.flatten(0, 1), of_inputs.mT)
        sizes[t, t:] = _norm(d_words).view(n - t, texts)
        own[t] = d_words[:texts]
        dh_t.flatten(0, 1).copy_(product(d_gates.flatten(0, 1), of_states.mT))
        dc_t.mul_(slopes.forget[t])
    return _Gradients(sizes.permute(2, 1, 0), own.transpose(0, 1))


@dataclass(frozen=True, slots=True)
class _Slopes:
    """What a gradient is multiplied with at each column, all [n, G, H].

    c_t = f·c_{t−1} + i·g and h_t = o·tanh(c_t), with gates i, f, o = σ(·) and g = tanh(·).
    """

    cell: Tensor  # ∂h/∂c
    forget: Tensor  # ∂c_t/∂c_{t−1}
    i: Tensor  # ∂c/∂ what enters the gate
    f: Tensor
    g: Tensor
    o: Tensor  # ∂h/∂ what enters the gate

    @classmethod
    def of(cls, weights: dict[str, nn.Parameter], x: Tensor, h: Tensor) -> _Slopes:
        """From word vectors [G, n, E] and the hidden states [G, n, H] they led to."""
        before = F.pad(h, (0, 0, 1, 0))[:, :-1]  # h_{t−1}
        entering = F.linear(x, weights["weight_ih_l0"], weights["bias_ih_l0"])
        entering += F.linear(before, weights["weight_hh_l0"], weights["bias_hh_l0"])  # [G, n, 4H]
        i, f, g, o = entering.transpose(0, 1).contiguous().chunk(4, -1)  # [n, G, H]
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = x.new_zeros(len(i) + 1, *i.shape[1:])  # c_{t−1} and c_t
        for t, new in enumerate(i * g):
            torch.addcmul(new, f[t], c[t], out=c[t + 1])
        tanh_c = c[1:].tanh()
        return cls(
            cell=o * (1 - tanh_c * tanh_c),
            forget=f,
            i=g * i * (1 - i),
            f=c[:-1] * f * (1 - f),
            g=i * (1 - g * g),
            o=tanh_c * o * (1 - o),
        )
