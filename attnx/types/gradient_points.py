"""Points at which gradients are taken, and how much each counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

ExplainedOutput = Callable[[Tensor, Tensor], Tensor]  # logits [R, C] of rows [R] of a batch -> numbers [R]


@dataclass(frozen=True, slots=True)
class GradientPoints:
    """K points for every example of a batch: X − share·away, where X are its embeddings.

    Attributes:
        away: directions [K, B, L, E], or [1, B, L, E] if all points lie on one line; 0 where nothing moves.
        share: how far along its direction each point lies [K, B]; 0 is the example itself.
        weights: how much each point counts [K].
    """

    away: Tensor  # [K, B, L, E] or [1, B, L, E]
    share: Tensor  # [K, B]
    weights: Tensor  # [K]

    @property
    def count(self) -> int:
        """How many points every example has."""
        return len(self.share)

    def directions(self, numbers: Tensor, rows: Tensor) -> Tensor:
        """Give the directions of some points.

        Args:
            numbers: which points [R].
            rows: of which examples [R].

        Returns:
            Their directions [R, L, E].
        """
        return self.away[0, rows] if len(self.away) == 1 else self.away[numbers, rows]
