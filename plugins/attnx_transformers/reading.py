"""One attention over words out of the many of a layer, and another one put in its place."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass

import torch
from torch import Tensor

from attnx.plugin import UsageError

from .options import Head
from .packing import Packing


@dataclass(frozen=True)
class Reading:
    """The attention of a head, or of all heads, from some positions to the words of a batch.

    a_w = Σ over the rows read of the weight on word w, divided by that on all words: what goes to
    special pieces is left out.
    """

    packing: Packing
    mask: Tensor  # [B, L] the columns that are words
    query: Tensor  # [B, T] positions that attend, in shares
    head: Head
    pieces: str

    def attention(self, weights: Tensor) -> Tensor:
        """[B, L] of weights [B, M, T, T], or [B, M, 1, T]; uniform where all weight is on special pieces."""
        one = weights.shape[2] == 1  # of the one position that attends
        query = self.query.amax(1, keepdim=True) if one else self.query
        read = torch.einsum("bq,m,bmqi->bi", query, heads_read(self.head, weights), weights)  # [B, T]
        return normalised(self._to_words(read), self.mask)

    def replaced(self, weights: Tensor, attention: Tensor) -> Tensor:
        """The weights [B, M, T, T] that read as `attention` a' [B, L].

        In each row that is read the weight on a word is multiplied by a'_w / a_w, and the row is
        brought back to the weight it had on all words; special pieces, and the shares of a word's
        pieces, stay. A single head and position then reads as a' exactly; so do several when a' is a
        or a single word, and else nearly, since every row stays on the simplex.
        """
        rows = self._rows()  # [B, R] the positions that attend
        index = rows[:, None, :, None].expand(-1, weights.shape[1], -1, weights.shape[-1])
        old = weights.gather(2, index)  # [B, M, R, T]
        new = self._tilted(old, self.attention(weights), attention)
        attends = self.query.gather(1, rows)[:, None, :, None] > 0  # [B, 1, R, 1]
        chosen = heads_read(self.head, weights)[:, None, None] > 0  # [M, 1, 1]
        return weights.scatter(2, index, torch.where(attends & chosen, new, old))

    def _tilted(self, old: Tensor, a: Tensor, wanted: Tensor) -> Tensor:
        """[B, M, R, T] rows that read as `wanted` [B, L], of rows that read as a [B, L]."""
        on_word = self._to_words(old)  # [B, M, R, L]
        mass = on_word.sum(-1, keepdim=True)  # [B, M, R, 1]
        as_wanted = wanted[:, None, None]  # [B, 1, 1, L]
        if old.shape[2] == 1 and self.head != "mean":
            new = mass * as_wanted
        else:
            tilted = on_word * as_wanted / a.masked_fill(a == 0, 1.0)[:, None, None]
            total = tilted.sum(-1, keepdim=True)
            # A row that had nothing on the words that are wanted takes them as they are.
            new = mass * torch.where(total > 0, tilted / total.masked_fill(total == 0, 1.0), as_wanted)
        count = self._to_words(torch.ones_like(self.query))[:, None, None]  # [B, 1, 1, L] pieces
        share = old / self._at_pieces(on_word.masked_fill(on_word == 0, 1.0))  # [B, M, R, T]
        even = self._at_pieces((1 / count.clamp_min(1)).expand_as(on_word))
        share = torch.where(self._at_pieces(on_word) > 0, share, even)
        return torch.where(self._counted[:, None, None], self._at_pieces(new) * share, old)

    def _rows(self) -> Tensor:
        """[B, R] the one position that attends, or all of them."""
        if bool(((self.query > 0).sum(1) == 1).all()):
            return self.query.argmax(1, keepdim=True)
        return torch.arange(self.query.shape[1], device=self.query.device).expand_as(self.query)

    @property
    def _column(self) -> Tensor:
        return self.packing.column.clamp_min(0)  # [B, T]

    @property
    def _counted(self) -> Tensor:
        """[B, T] positions whose weight counts as that of a word."""
        taken = self.packing.first if self.pieces == "first" else self.packing.used
        return taken & self.mask.gather(1, self._column)

    def _to_words(self, values: Tensor) -> Tensor:
        """[B, ..., T] -> [B, ..., L] sums over the pieces of a word that count."""
        between = [1] * (values.ndim - 2)
        index = self._column.view(len(values), *between, -1).expand_as(values)
        counted = self._counted.view(len(values), *between, -1)
        found = values.new_zeros(*values.shape[:-1], self.packing.columns)
        return found.scatter_add(-1, index, values.masked_fill(~counted, 0.0))

    def _at_pieces(self, by_word: Tensor) -> Tensor:
        """[B, M, R, L] -> [B, M, R, T] what each position's word has."""
        index = self._column[:, None, None].expand(*by_word.shape[:-1], -1)
        return by_word.gather(-1, index)


def heads_read(head: Head, weights: Tensor) -> Tensor:
    """[M] what each head of weights [B, M, ...] counts."""
    heads = weights.shape[1]
    if head == "mean":
        return weights.new_full((heads,), 1 / heads)
    if not 0 <= head < heads:
        raise UsageError(f"head={head}: a layer has {heads} heads, 0 to {heads - 1}.")
    return (torch.arange(heads, device=weights.device) == head).to(weights)


def normalised(values: Tensor, mask: Tensor) -> Tensor:
    """[B, L] in shares over the mask; even where there is nothing to share."""
    total = values.sum(1, keepdim=True)
    even = mask.to(values) / mask.sum(1, keepdim=True).clamp_min(1)
    return torch.where(total > 0, values / total.masked_fill(total == 0, 1.0), even)


def layer_read(layer: int, layers: Sized) -> int:
    """A layer's number from 0, of one that may be counted from the last."""
    if not -len(layers) <= layer < len(layers):
        raise UsageError(
            f"layer={layer}: the model has {len(layers)} layers, 0 to {len(layers) - 1}; -1 is the last."
        )
    return layer % len(layers)
