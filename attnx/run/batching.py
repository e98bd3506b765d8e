"""Examples as padded batches, and the one place that switches a model's mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from ..formulas.chunks import COLUMNS, similar_lengths
from ..protocols import Model
from ..types import Batch


@contextmanager
def evaluating(model: Model) -> Iterator[None]:
    """Evaluation mode, parameters frozen, gradients off; all restored whatever happens."""
    training = model.training
    wanted = [parameter.requires_grad for parameter in model.parameters()]
    model.eval().requires_grad_(False)
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)
        for parameter, grad in zip(model.parameters(), wanted, strict=True):
            parameter.requires_grad_(grad)


def batches(encoded: Batch, columns: int = COLUMNS) -> Iterator[tuple[Tensor, Batch]]:
    """Rows and batches of similar length, each of about that many columns."""
    for rows in similar_lengths(encoded.lengths, columns):
        yield rows, encoded.take(rows)


def shuffled(encoded: Batch, size: int, generator: torch.Generator) -> Iterator[Batch]:
    """Batches of `size` in random order, similar lengths together so that little is padded."""
    order = torch.randperm(len(encoded), generator=generator)
    uneven = bool((encoded.lengths != encoded.lengths[0]).any())
    if uneven:  # sort within windows of many batches: random enough, and short batches stay short
        windows = order.split(64 * size)
        order = torch.cat([window[encoded.lengths[window].argsort(stable=True)] for window in windows])
    parts = list(order.split(size))
    if uneven:
        parts = [parts[i] for i in torch.randperm(len(parts), generator=generator).tolist()]
    for rows in parts:
        yield encoded.take(rows)
