"""From scores of positions to scores of words."""

from __future__ import annotations

import torch
from torch import Tensor

from attnx.formulas import Layers, LayerStates
from attnx.plugin import Trace

from .options import AltiLogitOptions, AttentionFlowOptions, LayerOptions
from .packing import positions_asked


def query_of(layers: Layers | LayerStates, options: LayerOptions | AttentionFlowOptions) -> Tensor:
    """[B, T] the positions that are explained, in shares."""
    if options.query == "own":
        return layers.query
    return positions_asked(layers.column >= 0, options.query)


def by_word(
    scores: Tensor, layers: Layers | LayerStates, trace: Trace, options: LayerOptions | AltiLogitOptions
) -> Tensor:
    """[B, L] of scores [B, T]: the sum over the pieces of a word, or that of the first; 0 off the mask."""
    column = layers.column.clamp_min(0)
    taken = layers.column >= 0
    if options.pieces == "first":
        before = torch.cat([torch.full_like(column[:, :1], -1), layers.column[:, :-1]], 1)
        taken = taken & (layers.column != before)
    values = torch.zeros_like(trace.attention).scatter_add(
        1, column, scores.to(trace.attention).masked_fill(~taken, 0.0)
    )
    return values.masked_fill(~trace.batch.mask, 0.0)
