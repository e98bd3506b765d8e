"""Gradients at many points per text, without a product with the input weights for each point.

A point X − s·A puts W·X − s·W·A into the gates, so points on one line share both products. A gradient
with respect to a word vector is the gradient δ with respect to what enters the gates times W: the δ of
all points are added up before that one product, and gradient·A is δ·(W·A), which needs none. What is
left for each point is the recurrence, forward and backward, in both directions of reading at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attnx.formulas import passes_at_once, product, similar_lengths
from attnx.plugin import ExplainedOutput, GradientPoints, Trace

from .encoders import Bidirectional, inside
from .lstm_cells import Cells

ROWS = 200  # texts read together: enough to keep the processor busy, few enough for its cache
COLUMNS = 2**13  # of all of these: fewer long texts, so that memory stays small

Decode = Callable[[Tensor, Tensor], Tensor]  # rows [R] and their hidden states [R, n, H] -> logits [R, C]


@torch.no_grad()
def lstm_gradients_at(
    encoder: Bidirectional, decode: Decode, trace: Trace, points: GradientPoints, output: ExplainedOutput
) -> tuple[Tensor, Tensor]:
    """Sums over points of gradient·direction [B, L] and of gradients [B, L, E], with their weights."""
    cells, lengths = Cells.of(encoder), trace.batch.lengths
    along, total = torch.zeros_like(trace.embeddings[..., 0]), torch.zeros_like(trace.embeddings)
    groups = [
        (rows, int(lengths[rows].max()))
        for rows in similar_lengths(lengths, passes_at_once(points.count))
        if int(lengths[rows].max())
    ]
    sizes = [(n, len(_parts(points.count, len(rows), n)[0]) * len(rows)) for rows, n in groups]
    work = _Work.room_for(cells, sizes)
    for rows, n in groups:
        x = trace.embeddings[rows, :n].detach()
        some = GradientPoints(
            away=points.away[rows, :n],
            share=points.share[:, rows],
            weights=points.weights,
            noise=None if points.noise is None else points.noise[:, rows, :n],
        )
        found = _sums(cells, work, x, lengths[rows], some, _Explained(decode, output, rows))
        along[rows, :n], total[rows, :n] = found
    return along, total


@dataclass(frozen=True, slots=True)
class _Explained:
    """The output of some rows of a batch, from their hidden states."""

    decode: Decode
    output: ExplainedOutput
    rows: Tensor  # [B]

    def gradient(self, hidden: Tensor, weights: Tensor) -> Tensor:
        """The gradient with respect to hidden states [K·B, n, H] of outputs with weights [K]."""
        rows = self.rows.repeat(len(weights))
        with torch.enable_grad():
            hidden = hidden.requires_grad_()
            weighted = self.output(self.decode(rows, hidden), rows) * weights.repeat_interleave(
                len(self.rows)
            )
            return torch.autograd.grad(weighted.sum(), hidden)[0]


def _sums(
    cells: Cells, work: _Work, x: Tensor, lengths: Tensor, points: GradientPoints, explained: _Explained
) -> tuple[Tensor, Tensor]:
    """Do the same for texts x [B, n, E] of similar lengths [B]."""
    texts, n, _ = x.shape
    padding = ~inside(lengths, n).T[..., None]  # [n, B, 1]
    entering = cells.inputs(x.transpose(0, 1), padding).transpose(0, 1)  # [n, D, B, 4H]
    away = None  # [n, D, B, 4H]
    if points.away.any():  # noise alone has no line
        away = cells.products(points.away.transpose(0, 1)).transpose(0, 1)
    totals = entering.new_zeros(entering.shape)  # Σ_k δ_k of weighted outputs
    along = entering.new_zeros(n, 2, texts)
    for numbers in _parts(points.count, texts, n):
        work.begin(n, len(numbers), texts)
        noise = None if points.noise is None else _Noise.of(cells, points.noise[_pairs(numbers)])
        share = points.share[numbers.start : numbers.stop, :, None].to(x)  # [K, B, 1]

        def enter(t: int, gates: Tensor, share: Tensor = share, noise: _Noise | None = noise) -> None:
            if away is None:
                gates.copy_(entering[t, :, None])
            else:
                torch.addcmul(entering[t, :, None], share, away[t, :, None], value=-1, out=gates)
            if noise is not None:
                noise.add(t, gates, share)

        work.read_ahead(enter)
        weights = points.weights[numbers.start : numbers.stop]
        for t, delta in work.walk_back(explained.gradient(work.hidden(), weights)):  # [D, K, B, 4H]
            totals[t] += delta.sum(1)
            if noise is not None:
                along[t] += noise.along(t, delta)
    if away is not None:
        along += (totals * away).sum(-1)
    both = torch.stack([totals[:, 0], totals[:, 1].flip(0)])  # [D, n, B, 4H] in the order of the text
    ahead, back = both.flatten(1, 2)
    of_ahead, of_back = cells.input_weight  # [E, 4H] each
    gradients = product(back, of_back, product(ahead, of_ahead)).unflatten(0, (n, texts))
    return (along[:, 0] + along[:, 1].flip(0)).T, gradients.transpose(0, 1)


def _pairs(numbers: range) -> slice:
    """The noise of these points: every second one has that of the one before, with the other sign."""
    return slice(numbers.start // 2, (numbers.stop + 1) // 2)


@dataclass(frozen=True, slots=True)
class _Noise:
    """Noise of pairs of points, multiplied with the input weights."""

    ahead: Tensor  # [n, K/2, B, 4H] of the first direction, in the order of the text
    back: Tensor  # likewise of the other

    @classmethod
    def of(cls, cells: Cells, noise: Tensor) -> _Noise:
        """Of noise [K/2, B, n, E]."""
        pairs, texts, n, _ = noise.shape
        rows = noise.permute(2, 0, 1, 3).reshape(n * pairs * texts, -1)
        return cls(*(product(rows, weight).view(n, pairs, texts, -1) for weight in cells.input_weight.mT))

    def add(self, t: int, gates: Tensor, share: Tensor) -> None:
        """Add the noise of step t to what enters the gates [D, K, B, 4H] of points at shares [K, B, 1]."""
        for way, noise in enumerate(self._at(t)):
            for sign, odd in ((-1, 0), (1, 1)):
                there = gates[way, odd::2]
                there.addcmul_(share[odd::2], noise[: len(there)], value=sign)

    def along(self, t: int, delta: Tensor) -> Tensor:
        """[D, B] Σ_k δ_k·(W·noise_k) of step t; changes δ [D, K, B, 4H]."""
        apart = delta[:, ::2]
        apart[:, : delta.shape[1] // 2] -= delta[:, 1::2]
        for way, noise in enumerate(self._at(t)):
            apart[way] *= noise
        return apart.sum((1, 3))

    def _at(self, t: int) -> tuple[Tensor, Tensor]:
        """[K/2, B, 4H] what each direction reads at step t."""
        return self.ahead[t], self.back[-1 - t]


def _parts(points: int, texts: int, columns: int) -> list[range]:
    """The points that are read together: an even number of them, so that noise stays in pairs."""
    together = max(1, min(ROWS, COLUMNS // columns))
    size = -(-points // -(-points * texts // together))
    size += size % 2
    return [range(start, min(start + size, points)) for start in range(0, points, size)]


@dataclass
class _Work:
    """The gates and states of all columns, both directions and R texts, in memory that is used again.

    Cells keep 2c and h/2 (see `Cells`); s is σ(2c) − ½, so that h/2 = o·s.
    """

    recurrent: Tensor  # [D, H, 4H]
    room: Tensor  # for everything below
    gates: Tensor  # [n, D, R, 4H] first what enters them, then σ of it
    c: Tensor  # [n + 1, D, R, H] 2c before the first column and after each
    h: Tensor  # [n + 1, D, R, H] h/2 likewise
    s: Tensor  # [n, D, R, H]
    points: tuple[int, int] = (0, 0)  # K, B

    @classmethod
    def room_for(cls, cells: Cells, sizes: Sequence[tuple[int, int]]) -> _Work:
        """For at most so many columns and rows."""
        none = cells.recurrent.new_empty(0)
        most = max([(7 * columns + 2) * 2 * rows for columns, rows in sizes], default=0)
        return cls(cells.recurrent, cells.recurrent.new_empty(most * cells.size), none, none, none, none)

    def begin(self, n: int, points: int, texts: int) -> None:
        """Lay out the memory for n columns of so many points and texts; what enters the gates is not set."""
        ways, size, wide = self.recurrent.shape
        self.points = (points, texts)
        state = ways * points * texts * size
        parts = self.room[: (7 * n + 2) * state].split([4 * n * state, *2 * [(n + 1) * state], n * state])
        self.gates = parts[0].view(n, ways, -1, wide)
        self.c, self.h = (part.view(n + 1, ways, -1, size) for part in parts[1:3])
        self.s = parts[3].view(n, ways, -1, size)
        self.c[0], self.h[0] = 0.0, 0.0

    def read_ahead(self, enter: Callable[[int, Tensor], None]) -> None:
        """Read all columns; `enter` sets what enters the gates [D, K, B, 4H] of column t."""
        for t, gates in enumerate(self.gates):
            enter(t, gates.unflatten(1, self.points))
            for way, weight in enumerate(self.recurrent.mT):
                torch.sigmoid(product(self.h[t, way], weight, gates[way]), out=gates[way])
            i, f, g, o = gates.chunk(4, -1)
            c = torch.mul(self.c[t], f, out=self.c[t + 1])
            c.addcmul_(i, g, value=4).sub_(i, alpha=2)  # 2c ← f·2c + 2·i·(2g − 1)
            s = torch.sigmoid(c, out=self.s[t]).sub_(0.5)
            torch.mul(s, o, out=self.h[t + 1])

    def hidden(self) -> Tensor:
        """[R, n, H] the states of both directions in the order of the text."""
        ahead, back = self.h[1:].unbind(1)  # [n, R, H/2]
        return torch.cat([ahead.transpose(0, 1), back.flip(0).transpose(0, 1)], -1).mul_(2)

    def walk_back(self, gradient: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Yield each column, last first, and the gradient δ [D, K, B, 4H] of what entered its gates."""
        ahead, back = gradient.transpose(0, 1).chunk(2, -1)  # [n, R, H/2]
        of_h = torch.stack([ahead, back.flip(0)], 1).mul_(2)  # [n, D, R, H/2]
        of_c, part = torch.zeros_like(of_h[0]), torch.empty_like(of_h[0])
        delta = torch.empty_like(self.gates[0])
        all_but_o = delta.unflatten(-1, (4, -1))[..., :3, :]
        for t in reversed(range(len(self.gates))):
            i, f, g, o = self.gates[t].chunk(4, -1)
            d_i, d_f, d_g, d_o = torch.addcmul(
                self.gates[t], self.gates[t], self.gates[t], value=-1, out=delta
            ).chunk(4, -1)  # σ′ = σ − σ²
            torch.mul(self.s[t], self.s[t], out=part).neg_().add_(0.25).mul_(o)
            of_c.addcmul_(of_h[t], part)  # ∂h/∂c
            all_but_o.mul_(of_c[:, :, None])
            d_i.mul_(torch.mul(g, 4, out=part).sub_(2))
            d_f.mul_(self.c[t])
            d_g.mul_(torch.mul(i, 4, out=part))
            d_o.mul_(of_h[t]).mul_(self.s[t])
            of_c.mul_(f)
            if t:
                for way, weight in enumerate(self.recurrent):
                    of_h[t - 1, way] = product(delta[way], weight, of_h[t - 1, way])
            yield t, delta.unflatten(1, self.points)
