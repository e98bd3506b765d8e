"""From scores of positions to scores of words."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import torch
from torch import Tensor

from attnx.formulas import Layers, LayerStates
from attnx.plugin import LayeredModel, Model, OneLayerModel, Trace

from .options import (
    AltiLogitOptions,
    AttentionFlowOptions,
    AttentionNormOptions,
    ClsAttentionOptions,
    LayerOptions,
)
from .packing import positions_asked
from .reading import layer_read


def query_of(layers: Layers | LayerStates, options: LayerOptions | AttentionFlowOptions) -> Tensor:
    """[B, T] the positions that are explained, in shares."""
    if options.query == "own":
        return layers.query
    return positions_asked(layers.column >= 0, options.query)


def layer_of(model: Model, trace: Trace, options: ClsAttentionOptions | AttentionNormOptions) -> Layers:
    """One layer, from the positions that are explained; computed alone where the model can."""
    if "one-layer" in model.provides:
        alone = cast("OneLayerModel", model).one_layer
        return alone(trace.batch, trace.embeddings, options.layer, options.query)
    layers = cast("LayeredModel", model).layers(trace.batch, trace.embeddings)
    at = layer_read(options.layer, layers.weights)
    query = query_of(layers, options)
    return replace(layers, query=query, weights=(layers.weights[at],), sizes=(layers.sizes[at],))


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
