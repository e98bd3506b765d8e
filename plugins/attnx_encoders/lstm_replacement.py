"""Logits of texts in which a baseline replaces some words, for many subsets of words at once.

At each column an LSTM reads the word or its baseline, so each is multiplied with the input weights once.
Texts that are alike up to a column have one state there: rows are sorted, and a state is kept for every
different beginning, of which there are more from column to column.

    absent          0 0 1    0 1 0    0 1 1    1 0 0
    column 0        ──────── one state ──────  ─────
    column 1        ───────  ── one state ───  ─────
    column 2        ───────  ───────  ───────  ─────

The backward LSTM does the same from the ends of the texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from attnx.formulas import Scorer, product
from attnx.plugin import AttentionProjection, Trace

from .encoders import Bidirectional, inside
from .lstm_cells import Cells, Reader

ROWS = 512  # texts read together: enough to keep the processor busy, few enough for its cache
COLUMNS = 2**16  # of all of these: fewer long texts, so that memory stays small


@torch.no_grad()
def logits_of_replaced(
    encoder: Bidirectional,
    scorer: Scorer,
    projection: AttentionProjection,
    decoder: nn.Linear,
    query: Tensor | None,
    trace: Trace,
    rows: Tensor,
    absent: Tensor,
    baseline: Tensor,
) -> Tensor:
    """Logits [R, C] of texts `rows` [R] of a batch with a baseline [B, L, E] where `absent` [R, L]."""
    logits = trace.logits.new_empty(len(rows), decoder.out_features)
    cells = Cells.of(encoder)
    order = trace.batch.lengths[rows].mul(len(trace.batch)).add(rows).argsort(stable=True)
    longest = max(1, int(trace.batch.lengths[rows].max()))
    # texts of similar length, those of one text together
    for some in order.split(max(1, min(ROWS, COLUMNS // longest))):
        texts, own = rows[some].unique(return_inverse=True)  # [G], [r]
        n = int(trace.batch.lengths[texts].max())
        if n == 0:
            logits[some] = trace.logits[rows[some]]
            continue
        gone = absent[some, :n]  # [r, n]
        padding = ~inside(trace.batch.lengths[texts], n).T[..., None]  # [n, G, 1]
        words = cells.inputs(trace.embeddings[texts, :n].transpose(0, 1), padding)  # [D, n, G, 4H]
        instead = _inputs_instead(cells, baseline[texts, :n], trace.batch.mask[texts, :n], padding)
        reader = Reader.of(scorer, decoder, None if query is None else query[texts])
        ahead, back = (
            _read(cells.only(slice(way, way + 1)), torch.stack([words[way], instead[way]], 1),
                  reader.only(slice(way, way + 1)), own, gone if way == 0 else gone.flip(1))
            for way in (0, 1)
        )  # fmt: skip
        bias = reader.bias if reader.bias.ndim == 1 else reader.bias[own]  # [F + C] or [r, F + C]
        offset = reader.offset if reader.offset.ndim == 1 else reader.offset[own, 0]  # [C] or [r, C]
        scores, shares = zip(
            *(reader.split(a.add_(b).add_(bias)) for a, b in zip(ahead, reversed(list(back)), strict=True)),
            strict=True,
        )
        a = projection(torch.stack(scores, 1), trace.batch.mask[rows[some], :n])  # [r, n]
        logits[some] = torch.einsum("rn,nrc->rc", a, torch.stack(shares)) + offset
    return logits


def _inputs_instead(cells: Cells, baseline: Tensor, mask: Tensor, padding: Tensor) -> Tensor:
    """What baselines [G, n, E] of units on a mask [G, n] add to the gates, [D, n, G, 4H]."""
    first = mask.int().argmax(1)[:, None, None].expand(-1, -1, baseline.shape[-1])
    one = baseline.gather(1, first)  # [G, 1, E]
    if ((baseline == one).all(-1) | ~mask).all():  # one vector for all units of a text, as zeros are
        made = cells.inputs(one.transpose(0, 1), torch.zeros_like(padding[:1]))
        return made.expand(-1, len(padding), -1, -1)
    return cells.inputs(baseline.transpose(0, 1), padding)


def _read(cells: Cells, inputs: Tensor, reader: Reader, own: Tensor, gone: Tensor) -> Iterator[Tensor]:
    """Yield for each column what is read of the states of one direction, by row [r, F + C].

    Inputs [n, 2, G, 4H] of words and of baselines, and whether each word is gone [r, n], are in the order
    of reading; `own` [r] is the text of each row.
    """
    size, texts = cells.size, inputs.shape[2]
    recurrent, weights = cells.recurrent[0], 2 * reader.weights[0]  # the cells keep h/2
    h, c = inputs.new_zeros(2, texts, size)
    for step, column in zip(_steps(own, gone), inputs.flatten(1, 2), strict=True):
        entering = product(h, recurrent.mT)  # of the states before
        if step.parent is not None:
            entering, c = entering.index_select(0, step.parent), c.index_select(0, step.parent)
        gates = entering.add_(column.index_select(0, step.input))  # [U, 4H]
        i, f, g, o = gates.sigmoid_().chunk(4, -1)
        c.mul_(f).addcmul_(i, g, value=4).sub_(i, alpha=2)  # 2c ← f·2c + 2·i·(2g − 1)
        h = torch.sigmoid(c).sub_(0.5).mul_(o)  # h/2 ← o·tanh(c)/2
        if weights.ndim == 2:
            read = product(h, weights.mT)
        else:  # it depends on the text
            read = torch.bmm(h[:, None], weights[step.input % texts])[:, 0]
        yield read.index_select(0, step.state)


@dataclass(frozen=True, slots=True)
class _Step:
    """One column: which states there are, and what they come from."""

    parent: Tensor | None  # [U] the state before; None if there are no more states than before
    input: Tensor  # [U] what is read: the number of the text, more by G where the baseline is read
    state: Tensor  # [r] the state of each row


def _steps(own: Tensor, gone: Tensor) -> Iterator[_Step]:
    """The steps through texts `own` [r] of which these words are gone [r, n], in the order of reading."""
    device = own.device
    text, absent = own.cpu().numpy(), gone.cpu().numpy()
    texts, columns = int(text.max()) + 1, absent.shape[1]
    order = np.lexsort((*absent.T[::-1], text))
    text, absent = text[order], absent[order]
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    # The column at which each row, sorted, first differs from the row before; the next text differs at once.
    differs = absent[1:] != absent[:-1]
    first = np.where(differs.any(1), differs.argmax(1), columns)
    first = np.concatenate([[-1], np.where(text[1:] != text[:-1], -1, first)])
    number = np.cumsum(first <= -1) - 1  # [r] of the state that each sorted row has
    count = texts
    for t in range(columns):
        starts = np.flatnonzero(first <= t)  # [U] a row for every state
        parent = None if len(starts) == count else torch.from_numpy(number[starts]).to(device)
        if parent is not None:
            number, count = np.cumsum(first <= t) - 1, len(starts)
        read = text[starts] + texts * absent[starts, t]
        yield _Step(parent, torch.from_numpy(read).to(device), torch.from_numpy(number[back]).to(device))
