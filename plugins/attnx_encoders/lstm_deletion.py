"""Deletion of each unit of a text in turn, without reading the whole text again for each.

Deleting column i leaves the states of the forward LSTM before i and those of the backward LSTM after i
unchanged. So each direction starts the deletion of i at i, from the state of the full text, and every
product of a word vector with the input weights is used by all deletions. All deletions of several texts
advance together in both directions, one column per step:

    column read     t = 0    1    2    3
    row 0           full     ────────────► without column 0
    row 1                    full  ──────► without column 1
    row 2                          full  ► without column 2

Row t holds the state of the full text until column t is read: the new state of the full text then moves
to row t + 1, and row t keeps the old one, which is the text without column t. Direction D = 0 reads
forward and D = 1 reads backward: its columns are in reverse order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from attnx.formulas import Scorer, similar_lengths
from attnx.plugin import AttentionProjection, Trace

from .encoders import Bidirectional, inside
from .lstm_cells import Cells, Reader, read_states

MOST = 2**25  # scores and shares held at once: the square of a long text does not fit into memory
ROWS = 1024  # states that advance together: enough to keep the processor busy, few enough for its cache
SIZES = 32  # of products, about: oneDNN writes a program of up to a megabyte for each, and takes time for it


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
    cells = Cells.of(encoder)
    for rows in similar_lengths(batch.lengths, ROWS):
        n = int(batch.lengths[rows].max())
        if n == 0:
            continue
        mask = batch.mask[rows, :n]  # [G, n]
        padding = ~inside(batch.lengths[rows], n).T[..., None]  # [n, G, 1]
        vectors, hidden = (
            both[rows, :n].transpose(0, 1).contiguous() for both in (trace.embeddings, trace.hidden)
        )  # [n, G, E], [n, G, H]
        reader = Reader.of(scorer, decoder, None if query is None else query[rows])
        inputs, unchanged, units = cells.inputs(vectors, padding), reader.unchanged(hidden), _either_way(mask)
        for some in _blocks(units, inputs[0, :, :, 0].numel() * (1 + decoder.out_features)):
            scores, shares = _advance(cells, inputs, reader, unchanged, units, some)
            pooled = _pool(scores, shares, mask, projection, some) + reader.offset  # [G, K, C]
            logits[rows, some.start : some.stop] = pooled
    return logits


def _blocks(units: range, cells: int) -> Iterator[range]:
    """The units to delete, all at once or as many as fit into memory when each takes so many cells."""
    size = max(1, MOST // cells)
    for start in range(units.start, units.stop, size):
        yield range(start, min(start + size, units.stop))


def _either_way(mask: Tensor) -> range:
    """From the first to the last column of [G, n] that holds a unit, counted from either end."""
    columns = mask.any(0).nonzero()
    if not len(columns):
        return range(0)
    edge = min(int(columns[0]), mask.shape[1] - 1 - int(columns[-1]))
    return range(edge, mask.shape[1] - edge)


def _advance(
    cells: Cells, inputs: Tensor, reader: Reader, unchanged: Tensor, units: range, some: range
) -> tuple[Tensor, Tensor]:
    """Return scores [D, n, K, G] and shares of the logits [D, n, K, G, C] at column t without i, by (t, i).

    Columns t behind i and the K deleted columns i are in the order of reading; `some` are the deleted
    columns in the order of the text.
    """
    n = inputs.shape[1]
    back = range(n - some.stop, n - some.start)  # as the backward LSTM counts them
    if some == back:  # both directions together
        return _advance_alike(cells, inputs, reader, unchanged, units.stop, some)
    parts = [
        _advance_alike(cells.only(way), inputs[way], reader.only(way), unchanged[way], units.stop, which)
        for way, which in ((slice(0, 1), some), (slice(1, 2), back))
    ]
    return torch.cat([scores for scores, _ in parts]), torch.cat([shares for _, shares in parts])


def _advance_alike(
    cells: Cells, inputs: Tensor, reader: Reader, unchanged: Tensor, stop: int, some: range
) -> tuple[Tensor, Tensor]:
    """Do the same for directions that delete the same columns, each in its own order of reading.

    Row r is the deletion of column some.start + r; the row after the last one is the full text so far.
    Columns from `stop` on would not change anything that is read. Some rows behind the full text advance as
    well, so that few sizes occur; what is in them is replaced before it is read.
    """
    ways, n, examples, _ = inputs.shape
    state = inputs.new_zeros(2, ways, len(some) + 1, examples, cells.size)  # h and c
    h, c = state
    scratch = inputs.new_empty(4 * h.numel())
    scores = inputs.new_zeros(ways, n, len(some), examples)
    shares = inputs.new_zeros(ways, n, len(some), examples, reader.weights.shape[-1] - reader.features)
    weights = 2 * reader.weights  # the cells keep h/2
    several = max(1, len(some) // SIZES)
    for t in range(stop):
        row = min(max(0, t - some.start), len(some))
        whole = state[:, :, row].clone()
        rows = several * math.ceil((row + 1) / several)  # or all, if there are fewer
        cells.step(inputs[:, t], h[:, :rows], c[:, :rows], scratch)
        if t in some:
            state[:, :, row + 1] = state[:, :, row]
            state[:, :, row] = whole
        if row:
            rows = several * math.ceil(row / several)
            read = read_states(h[:, :rows], weights)[:, :row].add_(unchanged[:, t, None])
            scores[:, t, :row], shares[:, t, :row] = reader.split(read)
    return scores, shares


def _pool(
    scores: Tensor, shares: Tensor, mask: Tensor, projection: AttentionProjection, some: range
) -> Tensor:
    """Return the logits [G, K, C] of attention over the remaining columns, without their offset.

    The columns after the deleted one move up, since a projection may depend on their number.
    """
    n = mask.shape[1]
    left = torch.arange(n - 1, device=mask.device)
    deleted = torch.arange(some.start, some.stop, device=mask.device)
    behind = left[:, None] >= deleted  # [n-1, K] places that are behind the gap
    scores, shares = (
        torch.where(behind.reshape(n - 1, -1, *[1] * (ahead.ndim - 2)), ahead[1:], back.flip(0, 1)[:-1])
        for ahead, back in (scores, shares)
    )  # [n-1, K, G], [n-1, K, G, C]
    kept = mask.T[left[:, None] + behind]  # [n-1, K, G]
    a = projection(scores.flatten(1).T, kept.flatten(1).T).T.view_as(kept)  # [n-1, K, G]
    return (a[..., None] * shares).sum(0).transpose(0, 1)
