"""How much each position depends on each of the layer below, and on those at the bottom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor

from attnx.formulas import LayerStates, similar_lengths
from attnx.plugin import LayerStatesModel, Model, Trace

AT_ONCE = 2**10  # columns whose states of all layers are kept at a time


def scores_in_parts(
    model: Model, trace: Trace, target: Tensor, score: Callable[[LayerStates, Trace, Tensor], Tensor]
) -> Tensor:
    """[B, L] the scores of a batch, a few examples at a time, from the states of their layers."""
    values = torch.zeros_like(trace.attention)
    for rows in similar_lengths(trace.batch.lengths, AT_ONCE):
        part = trace.take(rows)
        states = cast("LayerStatesModel", model).layer_states(part.batch, part.embeddings)
        values[rows, : part.attention.shape[1]] = score(states, part, target[rows])
    return values


def rows_to_one(shares: Tensor) -> Tensor:
    """[B, T, T] rows that add up to 1; a row of zeros stays with its own position."""
    total = shares.sum(-1, keepdim=True)
    own = torch.eye(shares.shape[-1], dtype=shares.dtype, device=shares.device)
    return torch.where(total > 0, shares / total.where(total > 0, torch.ones_like(total)), own)


def through_layers(row: Tensor, mixing: Sequence[Tensor]) -> Tensor:
    """[B, T] shares of the positions at the bottom, of shares [B, T] at the top; bottom layer first."""
    for shares in reversed(mixing):
        row = torch.bmm(row[:, None], shares)[:, 0]
    return row
