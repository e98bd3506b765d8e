"""Units that are images, put together as one picture."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def tiles_across(count: int) -> int:
    """Say how many tiles lie side by side: they make a square if they can, or else one row."""
    side = isqrt(count)
    return side if side * side == count else count


def put_together(tiles: Array) -> Array:
    """Lay tiles out as one picture, row by row.

    Args:
        tiles: [n, channels, h, w], bytes or numbers; numbers are scaled from the lowest to the highest.

    Returns:
        The picture [H, W, 3] in bytes; grey if there are not three channels.
    """
    n, channels, h, w = tiles.shape
    across = tiles_across(n)
    laid = tiles.reshape(n // across, across, channels, h, w).transpose(0, 3, 1, 4, 2)
    picture = laid.reshape(n // across * h, across * w, channels)
    if picture.dtype != np.uint8:
        low, high = float(picture.min()), float(picture.max())
        picture = np.rint(255 * (picture - low) / max(high - low, 1e-12)).astype(np.uint8)
    if channels != 3:
        picture = np.rint(picture.mean(2, keepdims=True)).astype(np.uint8).repeat(3, axis=2)
    return picture
