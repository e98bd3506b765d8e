"""Image files as arrays of one size, and boxes that must lie inside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attnx.plugin import DataError

from .grid import Array, Box

LARGEST = 1e9  # pixels; an integer may have any number of digits


def read_image(path: Path, side: int) -> tuple[Array, tuple[int, int]]:
    """Return [3, side, side] bytes of an image scaled to a square, and its original width and height."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            size = image.size
            pixels = np.asarray(image.convert("RGB").resize((side, side), Image.Resampling.BILINEAR))
    except FileNotFoundError as error:
        raise DataError(f"There is no image '{path}'.") from error
    except (OSError, UnidentifiedImageError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"'{path}' does not decode as an image: {error}.") from error
    return pixels.transpose(2, 0, 1), size


def squeezed_box(given: Any, size: tuple[int, int], side: int, where: str) -> Box:
    """Return a box [x, y, width, height] of an image of that size as a box of the scaled image."""
    numbers = isinstance(given, Sequence) and len(given) == 4 and all(_is_number(value) for value in given)
    if not numbers or given[2] <= 0 or given[3] <= 0:
        raise DataError(f"{where}: a box is [x, y, width, height] in pixels, not {str(given)[:60]}.")
    x, y, width, height = (float(value) for value in given)
    if x < -1 or y < -1 or x + width > size[0] + 1 or y + height > size[1] + 1:  # a pixel for rounding
        raise DataError(
            f"{where}: the box {list(given)} is outside its image of {size[0]} x {size[1]} pixels."
        )
    across, down = side / size[0], side / size[1]
    return (x * across, y * down, (x + width) * across, (y + height) * down)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST
