"""Gradients at many points per text, without a product with the input weights for each point.

A point X − s·A puts W·X − s·W·A into the gates, so points on one line share both products. A gradient
with respect to a word vector is the gradient δ with respect to what enters the gates times W: the δ of
all points are added up before that one product, and gradient·A is δ·(W·A), which needs none. What is
left for each point is the recurrence, forward and backward, in both directions of reading at once. A
step reads one more column of the texts that have one: the longest texts come first, so these are the
first rows, and nothing is computed for padding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attnx.formulas import passes_at_once, product, similar_lengths
from attnx.plugin import ExplainedOutput, GradientPoints, Trace

from .encoders import Bidirectional
from .lstm_cells import Cells
from .lstm_steps import Steps

ROWS = 200  # texts read together: enough to keep the processor busy, few enough for its cache
COLUMNS = 2**13  # of all of these: fewer long texts, so that memory stays small

Decode = Callable[[Tensor, Tensor], Tensor]  # rows [R] and their hidden states [R, n, H] -> logits [R, C]


@torch.no_grad()
def lstm_gradients_at(
    encoder: Bidirectional, decode: Decode, trace: Trace, points: GradientPoints, output: ExplainedOutput
) -> tuple[Tensor, Tensor]:
    """Sums over points of gradient·direction [B, L] and of gradients [B, L, E], with their weights."""
    cells, lengths = Cells.of(encoder), trace.batch.lengths.to(trace.embeddings.device)
    along, total = torch.zeros_like(trace.embeddings[..., 0]), torch.zeros_like(trace.embeddings)
    groups = [
        (rows.flip(0), int(lengths[rows[-1]]))  # the longest text first
        for rows in similar_lengths(lengths, passes_at_once(points.count))
        if int(lengths[rows[-1]])
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
            only=points.only,
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
        """The gradient with respect to hidden states [B·K, n, H] of outputs with weights [K]."""
        rows = self.rows.repeat_interleave(len(weights))
        with torch.enable_grad():
            hidden = hidden.requires_grad_()
            weighted = self.output(self.decode(rows, hidden), rows) * weights.repeat(len(self.rows))
            return torch.autograd.grad(weighted.sum(), hidden)[0]


def _sums(
    cells: Cells, work: _Work, x: Tensor, lengths: Tensor, points: GradientPoints, explained: _Explained
) -> tuple[Tensor, Tensor]:
    """Do the same for texts x [B, n, E] of similar lengths [B], the longest first."""
    texts, n, _ = x.shape
    steps = Steps.of(lengths, n)
    entering = _products(cells, steps.read(x)).add_(cells.bias)  # [D, P, 4H]
    away = None  # [D, P, 4H]
    if points.away.any():  # noise alone has no line
        away = _products(cells, steps.read(points.away))
    totals = torch.zeros_like(entering)  # Σ_k δ_k of weighted outputs
    along = torch.zeros_like(entering[..., 0])
    parts = _parts(points.count, texts, n)
    of_points = {k: Steps.of(lengths.repeat_interleave(k), n) for k in {len(numbers) for numbers in parts}}
    entering_at, totals_at, along_at = (steps.split(values) for values in (entering, totals, along))
    away_at = () if away is None else steps.split(away)
    for numbers in parts:
        work.begin(of_points[len(numbers)])
        noise = None if points.noise is None else _Noise.of(cells, points.noise[_pairs(numbers)], lengths)
        share = points.share[numbers.start : numbers.stop].T[..., None].to(x)  # [B, K, 1]

        def enter(t: int, gates: Tensor, share: Tensor = share, noise: _Noise | None = noise) -> None:
            gates = gates.unflatten(1, (-1, share.shape[1]))  # [D, b, K, 4H]
            share, given = share[: gates.shape[1]], entering_at[t][:, :, None].expand_as(gates)
            if away_at:
                given = torch.addcmul(given, share, away_at[t][:, :, None], value=-1, out=gates)
            if noise is not None:
                noise.add(t, given, share, gates)
            elif not away_at:
                gates.copy_(given)

        work.read_ahead(enter)
        weights = points.weights[numbers.start : numbers.stop]
        for t, delta in work.walk_back(explained, weights):
            delta = delta.unflatten(1, (-1, len(numbers)))  # [D, b, K, 4H]
            totals_at[t].add_(delta.sum(2))
            if noise is not None and points.only != "total":
                along_at[t].add_(noise.along(t, delta))
    if away is not None:
        along += (totals * away).sum(-1)
    by_column = x.new_zeros(texts * n).index_add_(0, steps.column.flatten(), along.flatten())
    gradients = x.new_zeros(texts * n, x.shape[-1])
    if points.only != "along":
        for column, weight, total in zip(steps.column, cells.input_weight, totals, strict=True):
            gradients.index_add_(0, column, product(total, weight))
    return by_column.view(texts, n), gradients.view(texts, n, -1)


def _products(cells: Cells, vectors: Tensor) -> Tensor:
    """[D, P, 4H] vectors [D, P, E] times the input weights of their direction."""
    pairs = zip(vectors, cells.input_weight.mT, strict=True)
    return torch.stack([product(some, weight) for some, weight in pairs])


def _pairs(numbers: range) -> slice:
    """The noise of these points: every second one has that of the one before, with the other sign."""
    return slice(numbers.start // 2, (numbers.stop + 1) // 2)


@dataclass(frozen=True, slots=True)
class _Noise:
    """Noise of pairs of points, multiplied with the input weights."""

    at: tuple[tuple[Tensor, ...], ...]  # of each direction and step [b, K/2, 4H]

    @classmethod
    def of(cls, cells: Cells, noise: Tensor, lengths: Tensor) -> _Noise:
        """Of noise [K/2, B, n, E] of texts of these lengths [B]."""
        pairs, texts, n, _ = noise.shape
        steps = Steps.of(lengths.repeat_interleave(pairs), n)  # of rows [B·K/2]
        drawn = torch.arange(pairs * texts * n, device=noise.device).view(pairs, texts, n)
        places = steps.read(drawn.transpose(0, 1).flatten(0, 1))  # [D, P] in the order of drawing
        rows, counts = noise.flatten(0, 2), [count // pairs for count in steps.counts]
        ways = zip(places, cells.input_weight.mT, strict=True)
        found = [product(rows.index_select(0, place), weight) for place, weight in ways]
        return cls(tuple(way.unflatten(0, (-1, pairs)).split(counts) for way in found))

    def add(self, t: int, given: Tensor, share: Tensor, gates: Tensor) -> None:
        """Set gates [D, b, K, 4H] to what is given, with the noise of step t at shares [b, K, 1]."""
        for way, by_step in enumerate(self.at):
            for sign, odd in ((-1, 0), (1, 1)):
                there = gates[way, :, odd::2]
                noise = by_step[t][:, : there.shape[1]]  # a last point may have no partner
                torch.addcmul(given[way, :, odd::2], share[:, odd::2], noise, value=sign, out=there)

    def along(self, t: int, delta: Tensor) -> Tensor:
        """[D, b] Σ_k δ_k·(W·noise_k) of step t; changes δ [D, b, K, 4H]."""
        apart = delta[:, :, ::2]
        apart[:, :, : delta.shape[2] // 2] -= delta[:, :, 1::2]
        for way, by_step in zip(apart, self.at, strict=True):
            way *= by_step[t]
        return apart.sum((2, 3))


def _parts(points: int, texts: int, columns: int) -> list[range]:
    """The points that are read together: an even number of them, so that noise stays in pairs."""
    together = max(1, min(ROWS, COLUMNS // columns))
    size = -(-points // -(-points * texts // together))
    size += size % 2
    return [range(start, min(start + size, points)) for start in range(0, points, size)]


@dataclass
class _Work:
    """The gates and states of all steps, both directions and R rows, in memory that is used again.

    Cells keep 2c and h/2 (see `Cells`); s is σ(2c) − ½, so that h/2 = o·s.
    """

    recurrent: Tensor  # [D, H, 4H]
    room: Tensor  # for everything below
    gates: Tensor  # [D, P, 4H] first what enters them, then σ of it
    c: Tensor  # [D, P, H] 2c after each step
    h: Tensor  # [D, P, H] h/2 likewise
    s: Tensor  # [D, P, H]
    steps: Steps

    @classmethod
    def room_for(cls, cells: Cells, sizes: Sequence[tuple[int, int]]) -> _Work:
        """For at most so many columns and rows."""
        none = cells.recurrent.new_empty(0)
        most = max([7 * columns * 2 * rows for columns, rows in sizes], default=0)
        room = cells.recurrent.new_empty(most * cells.size)
        return cls(cells.recurrent, room, none, none, none, none, Steps(0, 0, (), none))

    def begin(self, steps: Steps) -> None:
        """Lay out the memory for these steps; what enters the gates is not set."""
        self.steps = steps
        ways, size, _ = self.recurrent.shape
        state = steps.column.numel() * size
        gates, *states = self.room[: 7 * state].split([4 * state, state, state, state])
        self.gates = gates.view(ways, -1, 4 * size)
        self.c, self.h, self.s = (some.view(ways, -1, size) for some in states)

    def read_ahead(self, enter: Callable[[int, Tensor], None]) -> None:
        """Read all steps; `enter` sets what enters the gates [D, r, 4H] of the rows of step t."""
        weights = self.recurrent.mT.unbind()
        by_step = map(self.steps.split, (self.gates, self.c, self.h, self.s))
        before: tuple[Tensor, Tensor] | None = None  # 2c and h/2, none of them yet
        for t, (gates, c, h, s) in enumerate(zip(*by_step, strict=True)):
            enter(t, gates)
            if before is None:
                gates.sigmoid_()
                i, _, g, o = gates.chunk(4, -1)
                torch.mul(i, g, out=c).mul_(4)
            else:
                earlier_c, earlier_h = (state[:, : c.shape[1]] for state in before)
                for of_way, state, weight in zip(gates, earlier_h, weights, strict=True):
                    torch.sigmoid(product(state, weight, of_way), out=of_way)
                i, f, g, o = gates.chunk(4, -1)
                torch.mul(earlier_c, f, out=c).addcmul_(i, g, value=4)
            c.sub_(i, alpha=2)  # 2c ← f·2c + 2·i·(2g − 1)
            torch.sigmoid(c, out=s).sub_(0.5)
            torch.mul(s, o, out=h)
            before = c, h

    def hidden(self) -> Tensor:
        """[R, n, H] the states of both directions in the order of the text; 0 in padding."""
        steps, size = self.steps, self.h.shape[-1]
        states = self.h.new_zeros(2 * steps.rows * steps.columns, size)
        states.index_copy_(0, steps.place, self.h.flatten(0, 1))
        return states.view(steps.rows, steps.columns, -1).mul_(2)

    def walk_back(self, explained: _Explained, weights: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Yield each step, last first, and the gradient δ [D, r, 4H] of what entered the gates of its rows.

        It is that of what is explained, with a weight for each point [K].
        """
        steps, size = self.steps, self.h.shape[-1]
        gradient = explained.gradient(self.hidden(), 2 * weights)  # with respect to h/2
        of_h = gradient.reshape(-1, size).index_select(0, steps.place).view_as(self.h)
        of_c = of_h.new_zeros(2, steps.rows, size)
        room = torch.empty_like(self.gates[:, : steps.rows]).flatten()
        recurrent = self.recurrent.unbind()
        by_step = list(zip(*map(steps.split, (self.gates, self.c, self.s, of_h)), strict=True))
        for t in reversed(range(len(by_step))):
            gates, _, s, d_h = by_step[t]
            i, f, g, o = gates.chunk(4, -1)
            d_c = of_c[:, : gates.shape[1]]
            part = torch.mul(s, s).sub_(0.25).mul_(o)
            d_c.addcmul_(d_h, part, value=-1)  # ∂h/∂c
            delta = room[: gates.numel()].view_as(gates)
            torch.addcmul(gates, gates, gates, value=-1, out=delta)  # σ′ = σ − σ²
            d_i, d_f, d_g, d_o = delta.chunk(4, -1)
            delta.unflatten(-1, (4, -1))[..., :3, :].mul_(d_c[:, :, None])
            d_i.mul_(torch.mul(g, 4, out=part).sub_(2))
            d_g.mul_(torch.mul(i, 4, out=part))
            d_o.mul_(d_h).mul_(s)
            if t:
                _, c, _, earlier = by_step[t - 1]
                rows = gates.shape[1]
                d_f.mul_(c[:, :rows])
                d_c.mul_(f)
                for way, of_way, weight in zip(earlier, delta, recurrent, strict=True):
                    way[:rows] = product(of_way, weight, way[:rows])
            else:
                d_f.zero_()  # nothing was there to be forgotten
            yield t, delta
