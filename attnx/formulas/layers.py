"""Self-attention as it is in a transformer: in every layer and head, from every position to all."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Layers:
    """The attention of every layer and head of a pass, T positions to each other.

    A column of the batch is read at one position or at several, as a word in pieces is.
    """

    column: Tensor  # [B, T] the column of each position, -1 for padding
    query: Tensor  # [B, T] how much of the output is read off each position; it adds up to 1
    weights: tuple[Tensor, ...]  # for every layer [B, M, T, T]: from a position, in each head, to all
    sizes: tuple[Tensor, ...]  # for every layer [B, M, T]: the norm of what a weight of 1 hands on
    logits: Tensor  # [B, C]
