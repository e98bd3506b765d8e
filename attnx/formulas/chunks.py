"""Work in pieces that fill a processor and fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

COLUMNS = 2**13  # of one pass through a model: enough to keep a processor busy, little enough for its caches
DIFFERENTIATED = 2**10  # of one with gradients on a CPU: 2**11 take 3 % less time and .2 GB more of memory
CELLS = 2**20  # of a tensor that is made and reduced at once

_share: ContextVar[float] = ContextVar("share of the usual size", default=1.0)


@contextmanager
def smaller_passes(share: float) -> Iterator[None]:
    """Make passes, and tensors that are made at once, smaller than usual, for a device with little memory.

    Args:
        share: the size as a share of the usual one.
    """
    token = _share.set(share)
    try:
        yield
    finally:
        _share.reset(token)


def at_once(cells: int) -> int:
    """Say how many tensors of a size are made at a time, so that memory stays small.

    Args:
        cells: how many numbers one of them has.

    Returns:
        How many to make at a time, at least 1.
    """
    return max(1, int(CELLS * _share.get()) // max(1, cells))


def passes_at_once(columns: int) -> int:
    """Say how many rows go through a model at a time.

    Args:
        columns: how many columns a row has.

    Returns:
        How many rows, at least 1.
    """
    return max(1, int(COLUMNS * _share.get()) // max(1, columns))


def differentiated_at_once(columns: int, device: torch.device) -> int:
    """Say how many rows go through a model at a time if a backward pass follows each forward pass.

    Args:
        columns: how many columns a row has.
        device: where the model runs.

    Returns:
        How many rows, at least 1.
    """
    most = int(COLUMNS * _share.get())
    return max(1, (min(most, DIFFERENTIATED) if device.type == "cpu" else most) // max(1, columns))


def similar_lengths(lengths: Tensor, columns: int = COLUMNS) -> Iterator[Tensor]:
    """Group rows of similar lengths.

    Args:
        lengths: the length of every row [R].
        columns: about how many columns a group may have when it is padded.

    Yields:
        The indices of the rows of one group.
    """
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
    """Group rows of equal lengths, so that nothing needs padding.

    Args:
        lengths: the length of every row [R].

    Yields:
        The indices of the rows of one group, as many as make up one pass through a model.
    """
    order = lengths.argsort(stable=True)
    values, counts = lengths[order].unique_consecutive(return_counts=True)
    for length, rows in zip(values.tolist(), order.split(counts.tolist()), strict=True):
        yield from rows.split(passes_at_once(length))
