"""What examples look like whose units are images: one small picture each, of some of them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ..formulas.tiles import put_together
from ..types import Example, TaskData

MOST = 200  # examples that are shown with a picture
SIDE = 96  # pixels of the longer side, at most: it is looked at a few centimetres wide
COLOURS = 128  # of a picture: a photograph then takes a third of the room


def pictures_of(data: TaskData) -> dict[int, bytes]:
    """By row of the test split, evenly spread over it: a PNG file. None where units are not images."""
    if data.features is None or data.features.ndim != 4:
        return {}
    rows = np.unique(np.linspace(0, len(data.test) - 1, min(MOST, len(data.test))).round().astype(int))
    return {row: _picture(data.test[row], data.features) for row in rows.tolist() if data.test[row].rows}


def _picture(example: Example, features: np.ndarray[Any, Any]) -> bytes:
    from PIL import Image

    picture = Image.fromarray(put_together(features[list(example.rows or ())]))
    picture.thumbnail((SIDE, SIDE))  # leaves a smaller one as it is
    buffer = io.BytesIO()
    picture.quantize(COLOURS, method=Image.Quantize.FASTOCTREE).save(buffer, "PNG")
    return buffer.getvalue()
