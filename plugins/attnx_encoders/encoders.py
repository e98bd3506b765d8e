"""Encoders: from word vectors to hidden states, each text as if it were alone and unpadded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn


def inside(lengths: Tensor, columns: int) -> Tensor:
    """[B, L] True in the columns that a row of that length uses."""
    return torch.arange(columns, device=lengths.device) < lengths[:, None]


class Encoder(nn.Module, ABC):
    """Hidden states [B, L, H] of vectors [B, L, E] that are used up to lengths [B]; 0 beyond."""

    size: int  # H

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        within = inside(lengths, vectors.shape[1])[..., None]  # [B, L, 1]
        if vectors.shape[1] == 0:
            return vectors.new_zeros(*vectors.shape[:2], self.size)
        return self.states(vectors, lengths, within).masked_fill(~within, 0.0)

    @abstractmethod
    def states(self, vectors: Tensor, lengths: Tensor, within: Tensor) -> Tensor:
        """Hidden states where `within` [B, L, 1] is True, anything finite elsewhere."""

    def summary(self, hidden: Tensor, lengths: Tensor) -> Tensor:
        """[B, H] one vector for a whole text: here the mean of its hidden states."""
        return hidden.sum(1) / lengths.clamp_min(1)[:, None]


class Same(Encoder):
    """The vectors themselves."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def states(self, vectors: Tensor, lengths: Tensor, within: Tensor) -> Tensor:
        return vectors


class Unitwise(Encoder):
    """One layer on each word separately: h = φ(W x + b)."""

    def __init__(self, size: int, hidden: int, activation: nn.Module) -> None:
        super().__init__()
        self.size = hidden
        self.layer = nn.Sequential(nn.Linear(size, hidden), activation)

    def states(self, vectors: Tensor, lengths: Tensor, within: Tensor) -> Tensor:
        hidden: Tensor = self.layer(vectors)
        return hidden


class Bidirectional(Encoder):
    """A recurrent layer in each direction.

    The backward layer reads each text reversed within its own length, so it starts at the last word and
    never reads padding: the same as packing, without its cost.
    """

    def __init__(self, layer: type[nn.LSTM] | type[nn.GRU], size: int, hidden: int) -> None:
        super().__init__()
        self.size = 2 * hidden
        self.ahead = layer(size, hidden)
        self.back = layer(size, hidden)

    def states(self, vectors: Tensor, lengths: Tensor, within: Tensor) -> Tensor:
        rows, columns, _ = vectors.shape
        mirror = mirror_columns(lengths, within.squeeze(-1))  # [B, L]
        row = torch.arange(rows, device=mirror.device)
        ahead, _ = self.ahead(vectors.transpose(0, 1))  # [L, B, H/2]
        there = (row * columns + mirror.T).flatten()  # [L·B] the columns in the order of the backward layer
        back, _ = self.back(_pick(vectors, there).view(columns, rows, -1))
        again = (row[:, None] + rows * mirror).flatten()  # [B·L] where each column was read
        return torch.cat([ahead.transpose(0, 1), _pick(back, again).view(rows, columns, -1)], -1)  # [B, L, H]

    def summary(self, hidden: Tensor, lengths: Tensor) -> Tensor:
        """The last state of each direction."""
        ahead, back = hidden.chunk(2, -1)
        rows = torch.arange(len(hidden), device=hidden.device)
        return torch.cat([ahead[rows, (lengths - 1).clamp_min(0)], back[:, 0]], -1)


def mirror_columns(lengths: Tensor, within: Tensor) -> Tensor:
    """[B, L] the column that each column changes places with when its text is reversed."""
    column = torch.arange(within.shape[1], device=lengths.device)
    return torch.where(within, lengths[:, None] - 1 - column, column)


def _pick(values: Tensor, places: Tensor) -> Tensor:
    """[N, H] the vectors at these places [N], counted through the first two dimensions of values."""
    return values.flatten(0, 1).index_select(0, places)


class Convolutions(Encoder):
    """Filters of several widths side by side, then ReLU; outside its ends a text is 0."""

    def __init__(self, size: int, hidden: int, kernels: Sequence[int]) -> None:
        super().__init__()
        self.size = hidden
        each, more = divmod(hidden, len(kernels))
        channels = [each + (i < more) for i in range(len(kernels))]
        self.filters = nn.ModuleList(
            nn.Conv1d(size, count, kernel, padding=kernel // 2)
            for kernel, count in zip(kernels, channels, strict=True)
            if count
        )
        self.activation = nn.ReLU()

    def states(self, vectors: Tensor, lengths: Tensor, within: Tensor) -> Tensor:
        x = vectors.masked_fill(~within, 0.0).transpose(1, 2)  # [B, E, L]
        hidden: Tensor = self.activation(torch.cat([convolve(x) for convolve in self.filters], 1))
        return hidden.transpose(1, 2)  # [B, L, H]
