"""The self-attention of a transformer: in every layer and head, from every position to all positions."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Layers:
    """The attention of every layer and head of one pass, from each of T positions to all.

    A column of the batch is read at one position, or at several if it is a word in pieces.

    Attributes:
        column: the column of each position [B, T], -1 for padding.
        query: how much of the output is read at each position [B, T]; the sum is 1.
        weights: for every layer the attention [B, M, T, T] of M heads from each position to all.
        sizes: for every layer the norm [B, M, T] of what a weight of 1 passes on.
        logits: the output [B, C].
    """

    column: Tensor
    query: Tensor
    weights: tuple[Tensor, ...]
    sizes: tuple[Tensor, ...]
    logits: Tensor
