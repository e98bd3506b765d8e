"""Work in pieces that fill a processor and fit into memory."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

COLUMNS = 2**13  # of one pass through a model: enough to keep a processor busy, little enough for its caches
CELLS = 2**20  # of a tensor that is made and reduced at once


def at_once(cells: int) -> int:
    """How many things of that many cells are made at a time."""
    return max(1, CELLS // max(1, cells))


def passes_at_once(columns: int) -> int:
    """How many rows of that many columns go through a model at a time."""
    return max(1, COLUMNS // max(1, columns))


def similar_lengths(lengths: Tensor, columns: int = COLUMNS) -> Iterator[Tensor]:
    """Rows in groups of similar lengths, each of about that many columns when padded."""
    order = lengths.argsort(stable=True)
    ordered = lengths[order].tolist()
    start = 0
    while start < len(ordered):
        stop = start + 1
        while stop < len(ordered) and ordered[stop] * (stop + 1 - start) <= columns:
            stop += 1
        yield order[start:stop]
        start = stop


def equal_lengths(lengths: Tensor) -> Iterator[Tensor]:
    """Rows in groups of one length each, as many as make up one pass: nothing needs padding."""
    order = lengths.argsort(stable=True)
    values, counts = lengths[order].unique_consecutive(return_counts=True)
    for length, rows in zip(values.tolist(), order.split(counts.tolist()), strict=True):
        yield from rows.split(passes_at_once(length))
