"""g_{h_p}(x_i) = ‖∂‖h_p‖₂/∂X_i‖₂ / Σ_k ‖∂‖h_p‖₂/∂X_k‖₂ for every hidden state p and unit i."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor

from attnx.formulas import at_once, differentiated_at_once
from attnx.plugin import InfluencingModel, Model, Trace


def shares_of_influence(model: Model, trace: Trace) -> Iterator[tuple[Tensor, Trace, Tensor]]:
    """Yield rows [R] of the batch, their trace, and g [R, P, L] of their hidden states p and units i.

    A few rows at a time, since the size grows with the square of the length. Off the mask g is 0 in both
    directions, and also for a hidden state that no unit influences.
    """
    for rows, part in _parts(trace):
        mask = part.batch.mask
        sizes = sizes_of_influence(model, part).masked_fill(~(mask[:, :, None] & mask[:, None]), 0.0)
        total = sizes.sum(2, keepdim=True)
        yield rows, part, sizes / total.masked_fill(total == 0, 1.0)


def sizes_of_influence(model: Model, trace: Trace) -> Tensor:
    """[B, P, L] ‖∂‖h_p‖₂/∂X_i‖₂; anything off the mask."""
    if "fast-influence" in model.provides:
        return cast("InfluencingModel", model).influence(trace).double()
    return one_pass_each(model, trace)


def one_pass_each(model: Model, trace: Trace) -> Tensor:
    """The same for any model, by one backward pass for each hidden state of the longest example.

    A backward pass needs the results of all layers, so only few rows are read at a time.
    """
    mask = trace.batch.mask
    rows, columns = mask.shape
    sizes = torch.zeros(rows, columns, columns, dtype=torch.float64, device=mask.device)
    for some in torch.arange(rows, device=mask.device).split(differentiated_at_once(columns, mask.device)):
        found = _one_pass_each(model, trace.take(some))
        sizes[some, : found.shape[1], : found.shape[1]] = found
    return sizes


def _one_pass_each(model: Model, trace: Trace) -> Tensor:
    mask = trace.batch.mask
    sizes = torch.zeros(*mask.shape, mask.shape[1], dtype=torch.float64, device=mask.device)
    with torch.enable_grad():
        embeddings = trace.embeddings.detach().requires_grad_()  # [B, L, E]
        hidden = model.run(trace.batch, embeddings).hidden  # [B, L, H]
        # squares of small states, and of the small gradients of far units, underflow in single precision
        norms = torch.linalg.vector_norm(hidden, dim=-1, dtype=torch.float64)
        lengths = norms.sum(0)  # [L] examples do not affect each other
        for p in mask.any(0).nonzero()[:, 0].tolist():
            (gradient,) = torch.autograd.grad(lengths[p], embeddings, retain_graph=True)
            sizes[:, p] = torch.linalg.vector_norm(gradient, dim=-1, dtype=torch.float64)
    return sizes


def _parts(trace: Trace) -> Iterator[tuple[Tensor, Trace]]:
    """Split a trace into parts that hold at most a fixed number of pairs of columns, or one example."""
    rows, columns = trace.batch.mask.shape
    for some in torch.arange(rows, device=trace.batch.mask.device).split(at_once(columns**2)):
        yield some, trace.take(some)
