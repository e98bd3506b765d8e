"""Images as grids of patches: cut, named, and marked if a box covers them."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Box = tuple[float, float, float, float]  # left, top, right, bottom, in pixels
COVERED = 0.5  # share of a patch that a box must cover to mark it


def cut(images: Array, grid: int) -> Array:
    """[N, 3, S, S] -> [N·grid², 3, S/grid, S/grid], patches row by row."""
    n, channels, side, _ = images.shape
    p = side // grid
    patches = images.reshape(n, channels, grid, p, grid, p).transpose(0, 2, 4, 1, 3, 5)
    return np.ascontiguousarray(patches.reshape(n * grid * grid, channels, p, p))


def patch_names(grid: int) -> tuple[str, ...]:
    """What the patches are called: row and column, from the top left."""
    return tuple(f"r{row}c{column}" for row in range(1, grid + 1) for column in range(1, grid + 1))


def patch_rows(image: int, grid: int) -> tuple[int, ...]:
    """The rows of an image's patches among those of all images."""
    return tuple(range(image * grid * grid, (image + 1) * grid * grid))


def marked(boxes: list[Box], side: float, grid: int) -> tuple[bool, ...]:
    """Return which patches of an image with that side are covered by at least half by one of the boxes.

    A box that covers no patch by half marks the one it covers most.
    """
    edges = np.linspace(0, side, grid + 1)
    most = np.zeros((grid, grid))
    for left, top, right, bottom in boxes:
        across = _overlap(edges, left, right)  # [grid] of each column
        down = _overlap(edges, top, bottom)  # [grid] of each row
        share = down[:, None] * across[None]
        if share.max() < COVERED and share.max() > 0:
            share = np.where(share == share.max(), 1.0, share)
        most = np.maximum(most, share)
    return tuple((most >= COVERED).ravel().tolist())


def _overlap(edges: Array, low: float, high: float) -> Array:
    """[grid] the share of each cell between its edges that lies between low and high."""
    inside = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
    return inside.clip(0) / (edges[1] - edges[0])
