"""Units that are images, put together as one picture."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def tiles_across(count: int) -> int:
    """How many of so many tiles lie side by side: a square where they make one, else all."""
    side = isqrt(count)
    return side if side * side == count else count


def put_together(tiles: Array) -> Array:
    """[n, channels, h, w] of bytes or numbers -> [H, W, 3] of bytes, tiles row by row.

    Numbers are spread from the lowest to the highest; of a single channel, or of other than three, the
    mean is shown in grey.
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
