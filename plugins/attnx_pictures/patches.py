"""Patch vectors, and hidden states from a small CNN over their grid."""

from __future__ import annotations

from math import isqrt, prod
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnx.plugin import UsageError


class Table(nn.Module):
    """Looks up patches in the task's table, which is data and not weights."""

    rows: Tensor

    def __init__(self, features: np.ndarray[Any, Any]) -> None:
        super().__init__()
        flat = torch.from_numpy(features.reshape(len(features), -1))
        self.register_buffer("rows", flat, persistent=False)  # [R, E]

    def forward(self, rows: Tensor) -> Tensor:
        found = self.rows[rows]
        return found / 127.5 - 1 if found.dtype == torch.uint8 else found  # the bytes of pixels: -1 to 1


class PatchEncoder(nn.Module):
    """Hidden states [B, L, H] of patches [B, L, E]: a CNN over the grid, or a layer on given features.

    Patches that are not among the L are grey, so a deleted patch leaves its place in the image.
    """

    def __init__(self, shape: tuple[int, ...], patches: int, hidden: int) -> None:
        super().__init__()
        self.shape, self.grid = shape, isqrt(patches)
        if self.grid**2 != patches:
            raise UsageError(f"A picture of {patches} patches is not a square grid.")
        self.network = _cnn(shape, hidden) if len(shape) == 3 else nn.Linear(prod(shape), hidden)

    def forward(self, embeddings: Tensor, unit_index: Tensor) -> Tensor:
        if len(self.shape) < 3:
            return torch.relu(self.network(embeddings))
        at = unit_index.clamp_min(0)  # [B, L]
        present = (unit_index >= 0)[..., None]  # [B, L, 1]
        canvas = embeddings.new_zeros(len(embeddings), self.grid**2, embeddings.shape[2])
        canvas = canvas.scatter_add(1, at[..., None].expand_as(embeddings), embeddings * present)
        hidden = self.network(self._picture(canvas))  # [B, H, grid, grid]
        states = hidden.flatten(2).transpose(1, 2)  # [B, grid², H]
        return states.gather(1, at[..., None].expand(-1, -1, states.shape[2]))

    def _picture(self, canvas: Tensor) -> Tensor:
        """[B, grid², E] -> [B, channels, S, S]."""
        channels, height, width = self.shape
        tiles = canvas.view(-1, self.grid, self.grid, channels, height, width)
        return tiles.permute(0, 3, 1, 4, 2, 5).reshape(-1, channels, self.grid * height, self.grid * width)


def _cnn(shape: tuple[int, ...], hidden: int) -> nn.Sequential:
    """Return 3 x 3 convolutions that halve the image until each patch is one pixel.

    They start with weights that keep the size of hidden states (Kaiming): torch's own make them
    smaller with every layer, and attention over small states stays uniform for many epochs.
    """
    channels, side = shape[0], shape[1]
    layers: list[nn.Module] = []
    while side > 1:
        if side % 2:
            raise UsageError(
                f"A patch of {shape[1]} pixels a side cannot be halved to one: choose 4, 8 or 16."
            )
        side //= 2
        after = hidden if side == 1 else max(8, hidden // (2 * side))
        convolution = nn.Conv2d(channels, after, 3, padding=1)
        nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
        layers += [convolution, nn.ReLU(), nn.MaxPool2d(2)]
        channels = after
    return nn.Sequential(*layers)
