"""Gradients at many points per example, weighted and added up."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor

from ..types import ExplainedOutput, GradientPoints, Trace
from .chunks import differentiated_at_once

if TYPE_CHECKING:
    from ..protocols import DifferentiatingModel, Model


def gradients_at(
    model: Model,
    trace: Trace,
    points: GradientPoints,
    output: ExplainedOutput,
    attention: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Add up the gradients of an output at several points, with the weights of the points.

    Args:
        model: the model, which provides "gradient".
        trace: a forward pass of it.
        points: the points of every example of the batch.
        output: the number of every row that is differentiated, from logits [R, C] and rows [R].
        attention: attention [B, L] to use instead of the model's own at every point.

    Returns:
        The sum of gradient·direction [B, L], and the sum of the gradients themselves [B, L, E]; what the
        points do not ask for may be 0.
    """
    if attention is None and "fast-gradients" in model.provides:
        return cast("DifferentiatingModel", model).gradients_at(trace, points, output)
    return one_pass_each(model, trace, points, output, attention)


def one_pass_each(
    model: Model,
    trace: Trace,
    points: GradientPoints,
    output: ExplainedOutput,
    attention: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Do the same for any model: a forward and a backward pass for each point of each example.

    Args:
        model: the model, which provides "gradient".
        trace: a forward pass of it.
        points: the points of every example of the batch.
        output: the number of every row that is differentiated, from logits [R, C] and rows [R].
        attention: attention [B, L] to use instead of the model's own at every point.

    Returns:
        The sum of gradient·direction [B, L], and the sum of the gradients themselves [B, L, E]; what the
        points do not ask for may be 0.
    """
    x = trace.embeddings.detach()  # [B, L, E]
    along, total = torch.zeros_like(x[..., 0]), torch.zeros_like(x)
    everyone = torch.arange(len(x) * points.count, device=x.device)
    order = trace.batch.lengths.argsort(stable=True)  # similar lengths together need little padding
    for some in everyone.split(differentiated_at_once(x.shape[1], x.device)):
        rows, numbers = order[some // points.count], some % points.count
        batch = trace.batch.take(rows)
        n = batch.mask.shape[1]
        away = points.directions(numbers, rows)[:, :n]  # [R, n, E]
        with torch.enable_grad():
            at = (x[rows, :n] - points.share[numbers, rows][:, None, None] * away).requires_grad_()
            held = None if attention is None else attention[rows, :n]
            logits = model.run(batch, at, attention=held).logits  # [R, C]
            (gradient,) = torch.autograd.grad(output(logits, rows).sum(), at)
        gradient = gradient * points.weights[numbers][:, None, None]
        if points.only != "total":
            along[:, :n].index_add_(0, rows, (gradient * away).sum(-1))
        if points.only != "along":
            total[:, :n].index_add_(0, rows, gradient)
    return along, total
