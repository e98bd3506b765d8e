from __future__ import annotations

from collections.abc import Mapping
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from attnx.formulas import put_together
from attnx.plugin import Drawing, DrawingData, Model, TaskData, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

Array = np.ndarray[Any, Any]
BOX = "#D55E00"  # vermilion: visible on most images for most people


class OverlayDrawing(Drawing):
    """Attention over images: each image, and below it the weights of its units.

    Units that are known to matter have a frame. For captions, the predicted word and the words before it
    are shown above the image.
    """

    needs = ("features", "images", "attention")
    title = "Attention over images"
    caption = (
        "The first test examples with the model of the first seed. Above: the image with its label. Below: "
        "the model's prediction and the attention on every unit; yellow is highest. Units that are known "
        "to matter have a frame."
    )
    size = (11.0, 4.0)
    examples = 6

    def collect(self, model: Model, trace: Trace, data: TaskData) -> Mapping[str, DrawingData] | None:
        """None where units are not images, or do not make up a square picture."""
        examples = trace.batch.examples
        n = isqrt(len(examples[0].units))
        if data.features is None or data.features.ndim != 4 or {len(e.units) for e in examples} != {n * n}:
            return None
        unmarked = (False,) * n**2
        names = data.label_names
        return {  # stored runs have these keys
            "pictures": np.stack([put_together(data.features[list(e.rows or ())]) for e in examples]),
            "weights": _by_unit(trace, n * n).cpu().float().numpy().reshape(-1, n, n),
            "marks": np.array([e.rationale or unmarked for e in examples], np.uint8).reshape(-1, n, n),
            "asked": tuple(f"{_before(e.query)}{names[e.label]}" for e in examples),
            "said": tuple(f"prediction: {names[y]}" for y in trace.predicted.tolist()),
        }

    def draw(self, figure: Figure, kept: Mapping[str, Any]) -> None:
        figure.subplots_adjust(left=0.01, right=0.99, bottom=0.01, top=0.94, wspace=0.08, hspace=0.14)
        count = len(kept["pictures"])
        rows = figure.subplots(2, count, squeeze=False)
        for column, (picture, weights, marks) in enumerate(
            zip(kept["pictures"], kept["weights"], kept["marks"], strict=True)
        ):
            _draw(rows[0, column], picture, None, marks)
            _draw(rows[1, column], picture, weights, marks)
            rows[0, column].set_title(kept["asked"][column], fontsize=8)
            rows[1, column].set_title(kept["said"][column], fontsize=8)


def _by_unit(trace: Trace, units: int) -> Tensor:
    """Return [B, units] the attention of every unit, without other columns."""
    at = trace.batch.unit_index
    whole = trace.attention.new_zeros(len(at), units + 1)
    return whole.scatter_add(1, at.masked_fill(at < 0, units), trace.attention)[:, :units]


def _before(query: tuple[str, ...] | None) -> str:
    """Return the last words before the predicted one."""
    return f"{' '.join(query[-3:])} … " if query else ""


def _draw(axes: Axes, picture: Array, weights: Array | None, marks: Array) -> None:
    extent = (0, picture.shape[1], picture.shape[0], 0)
    axes.set_axis_off()
    if weights is None:
        axes.imshow(picture, extent=extent)
    else:
        axes.imshow(picture.mean(2), extent=extent, cmap="gray", alpha=0.6)
        axes.imshow(weights, extent=extent, cmap="viridis", alpha=0.6, vmin=0, interpolation="nearest")
    _frame(axes, marks, picture.shape[0] / marks.shape[0])


def _frame(axes: Axes, marks: Array, size: float) -> None:
    """A line around the units that are marked."""
    padded = np.pad(marks.astype(int), 1)
    for row, column in np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1]):
        axes.plot([column * size, (column + 1) * size], [row * size] * 2, color=BOX, linewidth=1.5)
    for row, column in np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1]):
        axes.plot([column * size] * 2, [row * size, (row + 1) * size], color=BOX, linewidth=1.5)
