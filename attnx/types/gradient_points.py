"""Points at which gradients are taken, and how much each counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

ExplainedOutput = Callable[[Tensor, Tensor], Tensor]  # logits [R, C] of rows [R] of a batch -> numbers [R]


@dataclass(frozen=True, slots=True)
class GradientPoints:
    """K points for every example of a batch: X − share·direction, where X are its embeddings.

    The directions are `away`, or `away` plus and minus each noise in turn: away + noise_0, away − noise_0,
    away + noise_1, ...

    Attributes:
        away: the direction that all points share [B, L, E]; 0 where nothing moves.
        share: how far along its direction each point lies [K, B]; 0 is the example itself.
        weights: how much each point counts [K].
        noise: what is added to the direction of every two points [K/2, B, L, E], rounded up, or None.
        only: which of the two sums is read, that of gradient·direction ("along") or that of gradients
            ("total"); None is both. A model may leave the other at 0.
    """

    away: Tensor  # [B, L, E]
    share: Tensor  # [K, B]
    weights: Tensor  # [K]
    noise: Tensor | None = None  # [K/2, B, L, E]
    only: Literal["along", "total"] | None = None

    @property
    def count(self) -> int:
        """How many points every example has."""
        return len(self.share)

    @property
    def signs(self) -> Tensor:
        """The sign of the noise of every point [K]."""
        return 1.0 - 2.0 * (torch.arange(self.count, device=self.share.device) % 2).to(self.share)

    def directions(self, numbers: Tensor, rows: Tensor) -> Tensor:
        """Give the directions of some points.

        Args:
            numbers: which points [R].
            rows: of which examples [R].

        Returns:
            Their directions [R, L, E].
        """
        if self.noise is None:
            return self.away[rows]
        return self.away[rows] + self.signs[numbers][:, None, None] * self.noise[numbers // 2, rows]
