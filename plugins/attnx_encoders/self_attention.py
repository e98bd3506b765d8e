"""A small transformer encoder whose hidden states depend on their own text only, not on the batch."""

from __future__ import annotations

from math import log, sqrt

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnx.formulas import fast_linear

from .encoders import Encoder


class SelfAttention(Encoder):
    """Layers of self-attention over projected word vectors with sinusoidal positions."""

    def __init__(self, size: int, hidden: int, layers: int, heads: int, feed_forward: int) -> None:
        super().__init__()
        self.size = hidden
        self.project = nn.Linear(size, hidden)
        self.layers = nn.ModuleList(Layer(hidden, heads, feed_forward) for _ in range(layers))
        self.norm = nn.LayerNorm(hidden)

    def states(self, vectors: Tensor, lengths: Tensor, within: Tensor) -> Tensor:
        # A text without words attends to its padding, so that no softmax is over an empty set.
        seen = within.squeeze(-1) | (lengths == 0)[:, None]  # [B, L]
        with fast_linear():
            x = self.embedded(vectors)
            for layer in self.layers:
                x = layer(x, seen)
        normed: Tensor = self.norm(x)
        return normed

    def embedded(self, vectors: Tensor) -> Tensor:
        """[B, L, H] what the first layer reads."""
        return sqrt(self.size) * self.project(vectors) + positions(vectors.shape[1], self.size).to(vectors)


class Layer(nn.Module):
    """x + attend(norm(x)), then x + feed_forward(norm(x))."""

    def __init__(self, hidden: int, heads: int, feed_forward: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(hidden)
        self.keys_queries_values = nn.Linear(hidden, 3 * hidden)
        self.mix = nn.Linear(hidden, hidden)
        self.before_feed_forward = nn.LayerNorm(hidden)
        self.feed_forward = nn.Sequential(
            nn.Linear(hidden, feed_forward), nn.ReLU(), nn.Linear(feed_forward, hidden)
        )

    def forward(self, x: Tensor, seen: Tensor) -> Tensor:
        x = x + self._attend(self.before_attention(x), seen)
        x = x + self.feed_forward(self.before_feed_forward(x))
        return x

    def _attend(self, x: Tensor, seen: Tensor) -> Tensor:
        """Every column averages the columns [B, L] that are seen, in each head."""
        q, k, v = self.queries_keys_values(x)  # each [B, heads, L, D]
        read = F.scaled_dot_product_attention(q, k, v, attn_mask=seen[:, None, None])
        mixed: Tensor = self.mix(read.transpose(1, 2).flatten(2))  # [B, L, H]
        return mixed

    def queries_keys_values(self, x: Tensor) -> Tensor:
        """[3, B, heads, L, D]"""
        parts: Tensor = self.keys_queries_values(x).unflatten(-1, (3, self.heads, -1))  # [B, L, 3, heads, D]
        return parts.permute(2, 0, 3, 1, 4)


def positions(columns: int, size: int) -> Tensor:
    """[L, H] sines at even and cosines at odd places, of wavelengths from 2π to 10000·2π."""
    place = torch.arange(columns, dtype=torch.float32)[:, None]
    rate = torch.exp(torch.arange(0, size, 2) * (-log(10000.0) / size))  # [⌈H/2⌉]
    table = torch.zeros(columns, size)
    table[:, 0::2] = torch.sin(place * rate)
    table[:, 1::2] = torch.cos(place * rate)[:, : size // 2]
    return table
