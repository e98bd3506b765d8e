from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from attnx import Model, TaskData, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = np.ndarray[Any, Any]
FINE = 120  # cells along each side of a map
MOST = 400  # examples that are drawn
# The palette of Okabe and Ito, which most colour-blind people can tell apart; background is grey.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
GREY = "#777777"


class PlaneDrawing:
    """The focus over the base distributions, and the decision over attended points.

    Left, the score f(x) as a map, with points of every base distribution; right, the regions of the
    class that g gives to a point, with the attended points Σ a_j x_j of test mosaics by their label.
    """

    needs = ("features", "attention")

    def __call__(self, model: Model, data: TaskData) -> Figure | None:
        """None where segments are not points of a plane, or hidden layers are averaged."""
        if data.features is None or data.features.shape[1:] != (2,):
            return None
        from matplotlib.figure import Figure

        trace = _seen(model, data)
        if trace.hidden.shape[-1] != 2:
            return None
        figure = Figure(figsize=(9, 4.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw_focus(left, model, data, trace)
        _draw_decision(right, model, data, trace)
        return figure


def _seen(model: Model, data: TaskData) -> Trace:
    with torch.no_grad():
        batch = model.encode(data.test[:MOST])
        return model.run(batch, model.embed(batch))


def _draw_focus(axes: Axes, model: Model, data: TaskData, trace: Trace) -> None:
    points = trace.embeddings.flatten(0, 1).numpy()  # [N·m, 2]
    across, down, cells = _cells(points)
    scores = _alone(model, trace, cells).scores[:, 0].numpy()
    shown = axes.pcolormesh(
        across, down, scores.reshape(FINE, FINE), cmap="Greys", alpha=0.6, rasterized=True
    )
    axes.figure.colorbar(shown, ax=axes, label="focus score f(x)")
    units = [unit for example in trace.batch.examples for unit in example.units]
    names = ("background", *data.label_names)
    of = np.array([names.index(unit) for unit in units])
    for number, name in enumerate(names):
        mine = points[of == number][:MOST]
        axes.scatter(
            mine[:, 0],
            mine[:, 1],
            s=9,
            color=COLOURS[(number - 1) % 6] if number else GREY,
            label=name,
            linewidths=0,
        )
    axes.set(title="focus over the base distributions", xlabel="x₁", ylabel="x₂")
    axes.legend(fontsize=7, markerscale=1.6, loc="best", framealpha=0.8)


def _draw_decision(axes: Axes, model: Model, data: TaskData, trace: Trace) -> None:
    attended = torch.einsum("bl,blh->bh", trace.attention, trace.hidden).numpy()  # [N, 2]
    across, down, cells = _cells(attended)
    decided = _alone(model, trace, cells).logits.argmax(1).numpy()
    from matplotlib.colors import ListedColormap

    colours = [COLOURS[y % 6] for y in range(len(data.label_names))]
    axes.pcolormesh(
        across,
        down,
        decided.reshape(FINE, FINE),
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
        alpha=0.25,
        rasterized=True,
    )
    labels = trace.batch.labels.numpy()
    for y, name in enumerate(data.label_names):
        at = attended[labels == y]
        axes.scatter(at[:, 0], at[:, 1], s=11, color=colours[y], label=name, linewidths=0)
    axes.set(title="decision over attended points", xlabel="Σ aⱼ xⱼ₁", ylabel="Σ aⱼ xⱼ₂")
    axes.legend(fontsize=7, markerscale=1.6, loc="best", framealpha=0.8)


def _cells(points: Array) -> tuple[Array, Array, torch.Tensor]:
    """The edges of a map that holds these points, and the middle of its cells [FINE², 2]."""
    low, high = points.min(0), points.max(0)
    margin = 0.08 * (high - low) + 1e-3
    across, down = (np.linspace(low[i] - margin[i], high[i] + margin[i], FINE) for i in (0, 1))
    grid = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
    return across, down, torch.from_numpy(grid).float()


def _alone(model: Model, trace: Trace, points: torch.Tensor) -> Trace:
    """What the model makes of mosaics of one segment each, which attention then holds whole."""
    rows = torch.zeros(len(points), dtype=torch.long)
    single = trace.batch.keep(rows, torch.zeros(len(points), 1, dtype=torch.long))
    with torch.no_grad():
        return model.run(single, points[:, None], attention=torch.ones(len(points), 1))
