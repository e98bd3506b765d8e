"""What one layer of self-attention hands on, from every position to every other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class LayerState:
    """One layer of a pass: attention with its residual, y_i = N(x_i + Σ_j Σ_m A_mij u_mj + b), then the rest.

    N is the identity in a layer that normalises before it attends, and a normalisation in one that does so
    after. Linearised at its own standard deviation, N(u) = scale_i ⊙ (u − mean(u) if it centres) + shift.

    Attributes:
        inputs: the states x that the layer reads [B, T, H].
        weights: the attention A [B, M, T, T] of M heads from each position to all.
        handed: what a weight of 1 hands on from each position, u, without biases [B, M, T, H].
        outputs: the states y after attention, residual and N [B, T, H].
        scale: the factors of N [B, T, H], or None where N is the identity.
        centres: whether N subtracts the mean over H.
        states: the states that the layer gives [B, T, H].
        without_value: from rows [R] and positions [R] to the states that the layer gives when the value of
            that position is 0 [R, T, H].
    """

    inputs: Tensor
    weights: Tensor
    handed: Tensor
    outputs: Tensor
    scale: Tensor | None
    centres: bool
    states: Tensor
    without_value: Callable[[Tensor, Tensor], Tensor]

    def parts(self, rows: Tensor) -> Tensor:
        """Give what each position contributes to the states of each other position.

        Args:
            rows: the examples [R].

        Returns:
            T_i(x_j), the part of y_i that comes from x_j [R, T, T, H].
        """
        parts = torch.einsum("rmij,rmjh->rijh", self.weights[rows], self.handed[rows])
        own = torch.arange(parts.shape[1], device=parts.device)
        parts[:, own, own] += self.inputs[rows]
        if self.scale is None:
            return parts
        centred = parts - parts.mean(-1, keepdim=True) if self.centres else parts
        return centred * self.scale[rows][:, :, None]


@dataclass(frozen=True, slots=True)
class LayerStates:
    """The states of all layers of one pass.

    Attributes:
        column: the column of each position [B, T], -1 for padding.
        query: how much of the output is read at each position [B, T]; the sum is 1.
        layers: the layers from the bottom to the top.
        logits: the output [B, C].
        readout: for every class the gradient of its logit with respect to the states that the last layer
            gives, with the standard deviation of a normalisation held fixed [B, C, T, H], or None where the
            output is not linear in them.
    """

    column: Tensor
    query: Tensor
    layers: tuple[LayerState, ...]
    logits: Tensor
    readout: Tensor | None = None
