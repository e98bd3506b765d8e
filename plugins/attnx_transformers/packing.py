"""Between columns, which are words, and positions, which are pieces of words without gaps.

A tensor over columns holds the vectors of a column's pieces end to end, [B, L, S·E], 0 after the
last: one column is one unit, whatever its pieces. A transformer reads them at positions, [B, T, E].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from attnx.plugin import Batch

from .options import Query

IN_CACHE = 2**10  # positions of a pass: 2**11 take as long and .1 GB more of memory, 2**13 1.1 times as long


@dataclass(frozen=True)
class Packing:
    """Where the pieces of each row stand."""

    place: Tensor  # [B, T] in the columns' slots, counted through L·S
    used: Tensor  # [B, T] False in padding
    column: Tensor  # [B, T], -1 in padding
    first: Tensor  # [B, T] the first piece of its column
    kind: Tensor  # [B, T] token type
    columns: int
    slots: int  # S

    @classmethod
    def of(cls, batch: Batch, slots: int, left: bool = False) -> Packing:
        """The packing of a batch in which a column has that many slots; padded left or right."""
        there = batch.inputs[..., :slots] >= 0  # [B, L, S]
        rows, columns, _ = there.shape
        flat = there.flatten(1)  # [B, L·S]
        counts = flat.sum(1, keepdim=True)  # [B, 1]
        most = int(counts.max()) if rows else 0
        # stable, so pieces stay in their order; those that are not there come last, or first
        order = (flat if left else ~flat).byte().argsort(dim=1, stable=True)
        place = order[:, order.shape[1] - most :] if left else order[:, :most]  # [B, T]
        at = torch.arange(most, device=place.device)
        used = at >= most - counts if left else at < counts
        column = place // slots
        kind = batch.inputs[..., -1].long().gather(1, column)
        return cls(
            place=place,
            used=used,
            column=column.masked_fill(~used, -1),
            first=(place % slots == 0) & used,
            kind=kind.masked_fill(~used, 0),
            columns=columns,
            slots=slots,
        )

    def pack(self, vectors: Tensor) -> Tensor:
        """[B, L, S·E] -> [B, T, E]."""
        by_slot = vectors.reshape(len(vectors), self.columns * self.slots, -1)  # [B, L·S, E]
        index = self.place[..., None].expand(-1, -1, by_slot.shape[-1])
        return by_slot.gather(1, index).masked_fill(~self.used[..., None], 0.0)

    def unpack(self, states: Tensor) -> Tensor:
        """[B, T, E] -> [B, L, S·E]."""
        size = states.shape[-1]
        by_slot = states.new_zeros(len(states), self.columns * self.slots, size)
        index = self.place[..., None].expand_as(states)
        by_slot = by_slot.scatter_add(1, index, states.masked_fill(~self.used[..., None], 0.0))
        return by_slot.reshape(len(states), self.columns, self.slots * size)

    def by_column(self, values: Tensor, pieces: str) -> Tensor:
        """[B, T, ...] -> [B, L, ...] the sum or mean over a column's pieces, or the first alone."""
        taken = self.first if pieces == "first" else self.used
        shape = (*self.used.shape, *[1] * (values.ndim - 2))
        index = self.column.clamp_min(0).view(shape).expand_as(values)
        found = values.new_zeros(len(values), self.columns, *values.shape[2:])
        found = found.scatter_add(1, index, values.masked_fill(~taken.view(shape), 0.0))
        if pieces == "mean":
            count = torch.zeros_like(found[:, :, :1].flatten(2)[..., 0]).scatter_add(
                1, self.column.clamp_min(0), self.used.to(values)
            )  # [B, L]
            found = found / count.clamp_min(1).view(*count.shape, *shape[2:])
        return found

    def take(self, rows: Tensor) -> Packing:
        """That of these rows alone."""
        taken = {name: getattr(self, name)[rows] for name in ("place", "used", "column", "first", "kind")}
        return Packing(**taken, columns=self.columns, slots=self.slots)

    def passes(self) -> tuple[Tensor, ...]:
        """Rows in groups of about the same size, each of which is one pass through the layers.

        A library writes a program for every size of a product, so few sizes are better than full passes.
        """
        rows = torch.arange(len(self.used), device=self.used.device)
        most = max(1, IN_CACHE // max(1, self.used.shape[1])) if rows.device.type == "cpu" else len(rows)
        groups = max(1, math.ceil(len(rows) / max(1, most)))
        return rows.split(max(1, math.ceil(len(rows) / groups)))


def positions_asked(used: Tensor, query: Query) -> Tensor:
    """[B, T] the first of the positions that are used [B, T], the last one, or all in equal shares."""
    number = used.cumsum(1) * used  # 1, 2, ... on what is used
    if query == "mean":
        return used / used.sum(1, keepdim=True).clamp_min(1)
    wanted = 1 if query == "first" else used.sum(1, keepdim=True)
    return ((number == wanted) & used).float()


def joined(found: Sequence[tuple[Tensor, Any]], used: Tensor) -> Any:
    """One output of those of some rows each, padded to positions [B, T] where it has some."""
    name = "logits" if "logits" in found[0][1] else "last_hidden_state"
    first: Tensor = found[0][1][name]
    if name == "logits":
        whole = first.new_zeros(len(used), *first.shape[1:])
        for rows, output in found:
            whole = whole.index_copy(0, rows, output[name])
    else:
        whole = first.new_zeros(*used.shape, first.shape[-1])
        for rows, output in found:
            at = rows[:, None], used[rows].nonzero()[:, 1].view(len(rows), -1)
            whole = whole.index_put(at, output[name])
    return SimpleNamespace(**{name: whole})
