from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from attnx.plugin import Drawing, DrawingData, Model, TaskData, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = np.ndarray[Any, Any]
FINE = 100  # cells along each side of a map
# The palette of Okabe and Ito, which most colour-blind people can tell apart; background is grey.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
GREY = "#777777"


class PlaneDrawing(Drawing):
    """Maps of the focus score and of the predicted class over the plane.

    Left: the score f(x) as a map, with points of every base distribution. Right: the class that g gives
    to a point, with the attended points Σ a_j x_j of test mosaics coloured by their label.
    """

    needs = ("plane", "attention", "reattend")
    title = "Focus score and predicted class over the plane"
    caption = (
        "The model of the first seed. Left: the focus score of a segment at each point (darker is higher); "
        "dots are segments of test mosaics. Right: the predicted class of a mosaic whose attended point "
        "Σ aⱼ xⱼ is there; dots are the attended points of test mosaics, coloured by their label."
    )
    size = (9.0, 4.2)

    def collect(self, model: Model, trace: Trace, data: TaskData) -> Mapping[str, DrawingData] | None:
        """None where segments are not points of a plane, or hidden layers are averaged."""
        if trace.embeddings.shape[-1] != 2 or trace.hidden.shape[-1] != 2:
            return None
        points = trace.embeddings.flatten(0, 1)  # [N·m, 2]
        attended = torch.einsum("bl,blh->bh", trace.attention, trace.hidden)  # [N, 2]
        names = ("background", *data.label_names)
        units = [unit for example in trace.batch.examples for unit in example.units]
        around_points, around_attended = _frame(points), _frame(attended)
        scores = _alone(model, trace, _cells(around_points)).scores[:, 0]  # [FINE²]
        decided = _alone(model, trace, _cells(around_attended)).logits.argmax(1)  # [FINE²]
        numbers = {
            "points": points,
            "scores": scores.view(FINE, FINE),
            "around points": around_points,
            "attended": attended,
            "decided": decided.view(FINE, FINE).int(),
            "around attended": around_attended,
            "labels": trace.batch.labels.int(),
        }
        kept: dict[str, DrawingData] = {name: tensor.cpu().numpy() for name, tensor in numbers.items()}
        return kept | {"of": np.array([names.index(unit) for unit in units], np.int32), "names": names}

    def draw(self, figure: Figure, kept: Mapping[str, Any]) -> None:
        left, right = figure.subplots(1, 2)
        figure.subplots_adjust(wspace=0.25)
        names = kept["names"]
        _draw_map(left, kept["scores"], kept["around points"], cmap="Greys", alpha=0.6)
        figure.colorbar(left.images[0], ax=left, label="focus score f(x)")
        _draw_points(left, kept["points"], kept["of"], names)
        left.set(title="focus over the base distributions", xlabel="x₁", ylabel="x₂")
        from matplotlib.colors import ListedColormap

        classes = len(names) - 1
        regions = ListedColormap([_colour(1 + y) for y in range(classes)])
        limits = {"vmin": -0.5, "vmax": classes - 0.5}
        _draw_map(right, kept["decided"], kept["around attended"], cmap=regions, alpha=0.25, **limits)
        _draw_points(right, kept["attended"], kept["labels"] + 1, names)
        right.set(title="decision over attended points", xlabel="Σ aⱼ xⱼ₁", ylabel="Σ aⱼ xⱼ₂")


def _frame(points: Tensor) -> Tensor:
    """[2, 2] the lowest and the highest place of a map that holds these points [N, 2]."""
    low, high = points.amin(0), points.amax(0)
    margin = 0.08 * (high - low) + 1e-3
    return torch.stack([low - margin, high + margin])


def _cells(around: Tensor) -> Tensor:
    """[FINE², 2] the middle of every cell, row by row from below."""
    middles = (torch.arange(FINE, device=around.device) + 0.5) / FINE  # [FINE]
    across, up = (around[0, i] + middles * (around[1, i] - around[0, i]) for i in (0, 1))
    return torch.stack([across.repeat(FINE), up.repeat_interleave(FINE)], dim=1)


def _alone(model: Model, trace: Trace, points: Tensor) -> Trace:
    """Run the model on mosaics of one segment each, which then has all the attention."""
    rows = trace.batch.lengths.new_zeros(len(points))
    single = trace.batch.keep(rows, rows[:, None])
    return model.run(single, points[:, None], attention=points.new_ones(len(points), 1))


def _draw_map(axes: Axes, cells: Array, around: Array, **options: Any) -> None:
    (left, low), (right, high) = around
    axes.imshow(cells, extent=(left, right, low, high), origin="lower", aspect="auto", **options)


def _draw_points(axes: Axes, points: Array, of: Array, names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        mine = points[of == number]
        if len(mine):
            axes.scatter(
                mine[:, 0], mine[:, 1], s=9, color=_colour(number), label=name, linewidths=0, rasterized=True
            )
    axes.legend(fontsize=7, markerscale=1.6, loc="best", framealpha=0.8, frameon=True)


def _colour(number: int) -> str:
    """Return the colour of a base distribution; number 0 is the background."""
    return COLOURS[(number - 1) % len(COLOURS)] if number else GREY
