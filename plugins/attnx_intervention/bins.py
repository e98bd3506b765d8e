"""Curves over a value that each example has once: the mean of a measure in each of several bins."""

import torch
from torch import Tensor

WIDTH = 0.1


def centres(low: float, high: float) -> tuple[float, ...]:
    """The middles of bins from low to high."""
    count = round((high - low) / WIDTH)
    return tuple(round(low + (i + 0.5) * WIDTH, 10) for i in range(count))


def by_bin(values: Tensor, at: Tensor, points: tuple[float, ...]) -> Tensor:
    """Return [B, P] values [B] in the column of the bin that contains `at` [B], NaN in all others."""
    nearest = (at[:, None] - at.new_tensor(points)).abs().argmin(1, keepdim=True)  # [B, 1]
    return values.new_full((len(at), len(points)), torch.nan).scatter(1, nearest, values[:, None])
