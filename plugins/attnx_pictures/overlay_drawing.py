from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from attnx import Model, TaskData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = np.ndarray[Any, Any]
SHOWN = 6  # examples
BOX = "#D55E00"  # vermilion: seen on most pictures by most people


class OverlayDrawing:
    """Attention over pictures: the picture, and beside it the weights of its units.

    Units that are known to matter have a frame. A word of a caption stands over the picture with the
    words before it.
    """

    needs = ("features", "images", "attention")

    def __call__(self, model: Model, data: TaskData) -> Figure | None:
        """None where units do not make up a square picture."""
        units = len(data.test[0].units)
        if data.features is None or data.features.ndim != 4 or isqrt(units) ** 2 != units:
            return None
        from matplotlib.figure import Figure

        with torch.no_grad():
            batch = model.encode(data.test[:SHOWN])
            trace = model.run(batch, model.embed(batch))
        figure = Figure(figsize=(1.9 * len(batch), 4.2), layout="constrained")
        rows = figure.subplots(2, len(batch), squeeze=False)
        for column, example in enumerate(batch.examples):
            assert example.rows is not None
            picture = put_together(data.features[list(example.rows)])
            weights = trace.attention[column].reshape(isqrt(units), -1).numpy()
            marks = None if example.rationale is None else np.reshape(example.rationale, weights.shape)
            said = data.label_names[int(trace.predicted[column])]
            before = " ".join(example.query[-3:]) + " … " if example.query else ""
            _draw(rows[0, column], picture, None, marks)
            _draw(rows[1, column], picture, weights, marks)
            rows[0, column].set_title(f"{before}{data.label_names[example.label]}", fontsize=8)
            rows[1, column].set_title(f"says {said}", fontsize=8)
        return figure


def put_together(patches: Array) -> Array:
    """[n², channels, p, p] of bytes or numbers -> [S, S, channels] from 0 to 1."""
    n = isqrt(len(patches))
    _, channels, p, _ = patches.shape
    picture = patches.reshape(n, n, channels, p, p).transpose(0, 3, 1, 4, 2).reshape(n * p, n * p, channels)
    if picture.dtype == np.uint8:
        return picture / 255.0
    low, high = float(picture.min()), float(picture.max())
    return (picture - low) / max(high - low, 1e-12)


def _draw(axes: Axes, picture: Array, weights: Array | None, marks: Array | None) -> None:
    grey = picture.mean(2)
    extent = (0, picture.shape[1], picture.shape[0], 0)
    axes.set_axis_off()
    if weights is None:
        axes.imshow(picture if picture.shape[2] == 3 else grey, extent=extent, cmap="gray")
    else:
        axes.imshow(grey, extent=extent, cmap="gray", alpha=0.6)
        axes.imshow(weights, extent=extent, cmap="viridis", alpha=0.6, vmin=0, interpolation="nearest")
    if marks is not None:
        _frame(axes, marks, picture.shape[0] / marks.shape[0])


def _frame(axes: Axes, marks: Array, size: float) -> None:
    """A line around the units that are marked."""
    padded = np.pad(marks.astype(int), 1)
    for row, column in np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1]):
        axes.plot([column * size, (column + 1) * size], [row * size] * 2, color=BOX, linewidth=1.5)
    for row, column in np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1]):
        axes.plot([column * size] * 2, [row * size, (row + 1) * size], color=BOX, linewidth=1.5)
