"""Deleting each unit of a text in turn without reading the text anew for each.

Deleting column i leaves the states of the LSTM that reads ahead as they were before i, and those of
the LSTM that reads back as they were after i. So each direction starts the deletion of i at i, from
the state of the whole text, and every product of a word vector with the input weights is used by all
deletions. All deletions of several texts advance together, one column a step:

    column read     t = 0    1    2    3
    row 0           whole    ────────────► without column 0
    row 1                    whole ──────► without column 1
    row 2                          whole ► without column 2

Row t holds the state of the whole text until column t is read: the new state of the whole text then
moves to row t + 1, and row t keeps the old one, which is the text without column t.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnx import AttentionProjection, Trace, similar_lengths

from .encoders import Bidirectional, inside
from .scorers import Scorer

ROWS = 1024  # states that advance together: enough to keep the processor busy, few enough for its cache


@torch.no_grad()
def logits_without_each(
    encoder: Bidirectional,
    scorer: Scorer,
    projection: AttentionProjection,
    decoder: nn.Linear,
    query: Tensor | None,
    trace: Trace,
) -> Tensor:
    """Logits [B, L, C] with each column deleted in turn, equal to those of a forward pass without it."""
    batch = trace.batch
    logits = trace.logits.new_zeros(*batch.mask.shape, decoder.out_features)
    ahead, back = _Cell.of(encoder.ahead), _Cell.of(encoder.back)
    for rows in similar_lengths(batch.lengths, ROWS):
        n = int(batch.lengths[rows].max())
        if n == 0:
            continue
        reader = _Reader.of(scorer, decoder, None if query is None else query[rows])
        vectors = trace.embeddings[rows, :n].transpose(0, 1).contiguous()  # [n, G, E]
        hidden = trace.hidden[rows, :n].transpose(0, 1).contiguous()  # [n, G, H]
        padding = ~inside(batch.lengths[rows], n).T[..., None]  # [n, G, 1]
        hidden_ahead, hidden_back = hidden.chunk(2, -1)
        mask = batch.mask[rows, :n]  # [G, n]
        first, last = _span(mask.any(0))
        after = _advance(
            ahead.inputs(vectors, padding),
            ahead,
            reader.ahead,
            reader.other(hidden_back, reader.back),
            reader,
            range(first, last + 1),
        )
        before = _advance(
            back.inputs(vectors, padding).flip(0),
            back,
            reader.back,
            reader.other(hidden_ahead, reader.ahead).flip(0),
            reader,
            range(n - 1 - last, n - first),
        )
        logits[rows, :n] = _pool(after, before, mask, projection) + reader.offset
    return logits


def _span(units: Tensor) -> tuple[int, int]:
    """The first and the last column [n] that is a unit of some text; 0 and -1 where none is."""
    columns = units.nonzero()
    return (int(columns[0]), int(columns[-1])) if len(columns) else (0, -1)


@dataclass(frozen=True, slots=True)
class _Cell:
    """An LSTM cell with each tanh(x) written as 2σ(2x) − 1, several times cheaper on a CPU.

    It keeps 2c and h/2 in place of c and h, and its weights make up for all the factors of 2.
    """

    input_weight: Tensor  # [4H, E], gates i, f, g, o
    bias: Tensor  # [4H]
    recurrent: Tensor  # [H, 4H]

    @classmethod
    def of(cls, layer: nn.Module) -> _Cell:
        weights = dict(layer.named_parameters())
        hidden = weights["weight_hh_l0"].shape[1]
        twice_g = weights["weight_hh_l0"].new_ones(4 * hidden, 1)
        twice_g[2 * hidden : 3 * hidden] = 2.0
        return cls(
            input_weight=weights["weight_ih_l0"] * twice_g,
            bias=(weights["bias_ih_l0"] + weights["bias_hh_l0"]) * twice_g[:, 0],
            recurrent=(2 * weights["weight_hh_l0"] * twice_g).T.contiguous(),
        )

    @property
    def size(self) -> int:
        return self.recurrent.shape[0]

    def inputs(self, vectors: Tensor, padding: Tensor) -> Tensor:
        """What each column adds to the gates, [n, G, 4H].

        Padding shuts the input gate, so the LSTM that reads back meets the last word with an empty state.
        """
        x = F.linear(vectors, self.input_weight, self.bias)
        x[..., : self.size].masked_fill_(padding, -torch.inf)
        return x

    def step(self, x: Tensor, h: Tensor, c: Tensor, gates: Tensor) -> None:
        """Read one column [G, 4H] into states [R, G, H] in place; `gates` [R, G, 4H] is scratch space."""
        entering = gates.copy_(x).flatten(0, 1)  # [R·G, 4H]
        torch.addmm(entering, h.flatten(0, 1), self.recurrent, out=entering)
        i, f, g, o = gates.sigmoid_().chunk(4, -1)
        c.mul_(f).addcmul_(i, g.sub_(0.5), value=4)  # 2c ← f·2c + 2·i·tanh
        torch.sigmoid(c, out=h)
        h.sub_(0.5).mul_(o)  # h/2 ← o·tanh(c)/2


@dataclass(frozen=True, slots=True)
class _Reader:
    """All that is ever read from a hidden state: its features for the scorer and its share of the logits.

    Both are affine in the state, hence sums of what each direction's half of it contributes.
    """

    scorer: Scorer
    features: int  # F
    ahead: Tensor  # [H/2, F + C], or [G, H/2, F + C] where it depends on the example
    back: Tensor
    bias: Tensor  # [F + C] or [G, F + C]
    offset: Tensor  # [C] or [G, 1, C] what the logits are without any state

    @classmethod
    def of(cls, scorer: Scorer, decoder: nn.Linear, query: Tensor | None) -> _Reader:
        weight, bias = scorer.affine(query)  # [F, H] or [G, F, H]
        hidden = weight.shape[-1]
        of_state = decoder.weight[:, :hidden]  # [C, H]
        both = torch.cat([weight, of_state.expand(*weight.shape[:-2], -1, -1)], -2)  # [F + C, H]
        ahead, back = both.mT.chunk(2, -2)
        offset: Tensor = decoder.bias
        if query is not None:
            offset = (offset + query @ decoder.weight[:, hidden:].T)[:, None]
        return cls(
            scorer=scorer,
            features=weight.shape[-2],
            ahead=ahead.contiguous(),
            back=back.contiguous(),
            bias=F.pad(bias, (0, decoder.out_features)),
            offset=offset,
        )

    def other(self, states: Tensor, weights: Tensor) -> Tensor:
        """What the direction that does not change contributes, with the bias: [n, G, F + C]."""
        return _apply(states, weights) + self.bias

    def split(self, read: Tensor) -> tuple[Tensor, Tensor]:
        """Scores [R, G] and shares of the logits [R, G, C] from what was read, [R, G, F + C]."""
        return self.scorer.head(read[..., : self.features]), read[..., self.features :]


def _apply(states: Tensor, weights: Tensor) -> Tensor:
    """States [R, G, H] times weights [H, F] or [G, H, F]."""
    if weights.ndim == 2:
        return states @ weights
    return torch.einsum("rgh,ghf->rgf", states, weights)


def _advance(
    inputs: Tensor, cell: _Cell, weights: Tensor, other: Tensor, reader: _Reader, units: range
) -> tuple[Tensor, Tensor]:
    """Scores [n, n, G] and shares of the logits [n, n, G, C] at column t > i without column i, by (t, i).

    Columns before `units` are read and never deleted: row r is the deletion of column units.start + r.
    Those after it would change nothing that is read.
    """
    n, examples, _ = inputs.shape
    h, c = inputs.new_zeros(2, n + 1, examples, cell.size)
    gates = inputs.new_empty(n + 1, examples, 4 * cell.size)
    scores = inputs.new_zeros(n, n, examples)
    shares = inputs.new_zeros(n, n, examples, weights.shape[-1] - reader.features)
    twice = 2 * weights  # the cell keeps h/2
    first = units.start
    for t in range(units.stop):
        row = max(0, t - first)
        whole_h, whole_c = h[row].clone(), c[row].clone()
        cell.step(inputs[t], h[: row + 1], c[: row + 1], gates[: row + 1])
        if t >= first:
            h[row + 1], c[row + 1] = h[row], c[row]
            h[row], c[row] = whole_h, whole_c
        if row:
            scores[t, first:t], shares[t, first:t] = reader.split(_apply(h[:row], twice).add_(other[t]))
    return scores, shares


def _pool(
    after: tuple[Tensor, Tensor], before: tuple[Tensor, Tensor], mask: Tensor, projection: AttentionProjection
) -> Tensor:
    """Attention over the columns that are left, and the logits [G, n, C] it gives, without their offset.

    The columns are closed up over the gap, since a projection may depend on their number.
    """
    n = mask.shape[1]
    left, deleted = torch.arange(n - 1, device=mask.device), torch.arange(n, device=mask.device)
    behind = left[:, None] >= deleted  # [n-1, n] places that are behind the gap
    scores, shares = (
        torch.where(behind.reshape(n - 1, n, *[1] * (a.ndim - 2)), a[1:], b.flip(0, 1)[:-1])
        for a, b in zip(after, before, strict=True)
    )  # [n-1, n, G], [n-1, n, G, C]
    kept = mask.T[left[:, None] + behind]  # [n-1, n, G]
    a = projection(scores.flatten(1).T, kept.flatten(1).T).T.view_as(kept)  # [n-1, n, G]
    return (a[..., None] * shares).sum(0).transpose(0, 1)
