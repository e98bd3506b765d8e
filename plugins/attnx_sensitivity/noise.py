"""Inputs with noise on their embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from attnx.plugin import Batch, Model, Trace


@contextmanager
def with_noise(model: Model, batch: Batch, noise: Tensor) -> Iterator[Trace]:
    """Yield the forward pass on a batch with noise [B, L, E] on the embeddings of its units.

    Until the end of the block the model embeds every part of these examples with the noise of its units, so
    that a method which deletes or replaces units explains the noisy input too.
    """
    by_unit = _by_unit(noise, batch)
    rows = {example.id: row for row, example in enumerate(batch.examples)}
    plain, before = model.embed, vars(model).get("embed")

    def embed(part: Batch) -> Tensor:
        known = [rows.get(example.id, len(rows)) for example in part.examples]  # no noise on other examples
        row = torch.tensor(known, device=part.unit_index.device)[:, None]
        x, extra = plain(part), by_unit[row, part.unit_index]  # [r, l, e], [r, l, E]
        return x + F.pad(extra, (0, x.shape[2] - extra.shape[2]))  # fewer pieces of words: the first of them

    vars(model)["embed"] = embed
    try:
        other = replace(batch)  # outputs that are known for the batch are not those of the noisy one
        yield model.run(other, model.embed(other))
    finally:
        del vars(model)["embed"]
        if before is not None:
            vars(model)["embed"] = before


def _by_unit(noise: Tensor, batch: Batch) -> Tensor:
    """[B + 1, U + 1, E] the noise of every unit; 0 in the last row and for unit −1."""
    units = int(batch.unit_index.max()) + 1
    found = noise.new_zeros(len(batch) + 1, units + 1, noise.shape[2])
    rows, columns = batch.mask.nonzero(as_tuple=True)
    found[rows, batch.unit_index[rows, columns]] = noise[rows, columns]
    return found
