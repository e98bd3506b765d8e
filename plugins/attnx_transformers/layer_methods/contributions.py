"""How much of the state after attention comes from each position."""

from __future__ import annotations

import torch
from torch import Tensor

from attnx.formulas import LayerState, at_once

from .state_mixing import rows_to_one


def contributions(layer: LayerState) -> Tensor:
    """[B, T, T] max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁), rows to 1."""
    y = layer.outputs  # [B, T, H]
    near = torch.zeros(*y.shape[:2], y.shape[1], dtype=torch.float64, device=y.device)
    for rows in torch.arange(len(y), device=y.device).split(at_once(y.shape[1] * y[0].numel())):
        parts = layer.parts(rows)  # [r, T, T, H]
        left = (y[rows][:, :, None] - parts).abs().sum(-1)  # [r, T, T]
        near[rows] = (y[rows].abs().sum(-1, keepdim=True) - left).clamp_min(0).double()
    return rows_to_one(near)
