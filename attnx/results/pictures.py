"""Small pictures of some examples, for tasks whose units are images."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ..formulas.tiles import put_together
from ..types import Example, TaskData

MOST = 200  # examples that are shown with a picture
SIDE = 96  # pixels of the longer side, at most: the page shows it a few centimetres wide
COLOURS = 128  # of a picture: a photograph then takes a third of the space


def pictures_of(data: TaskData) -> dict[int, bytes]:
    """PNG files by row of the test split, evenly spread over it; empty if units are not images."""
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
