"""Drawings of models on planes and pictures: what they show is what the model does."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from attnx.plugin import Source
from attnx_pictures.options import ShapesOptions, ShowAttendTellOptions
from attnx_pictures.overlay_drawing import OverlayDrawing
from attnx_pictures.shapes_captions import make_data
from attnx_pictures.show_attend_tell import ShowAttendTell
from attnx_sdc.digits import Digits
from attnx_sdc.error_modes import ErrorMode1
from attnx_sdc.fcam import Fcam
from attnx_sdc.options import DigitsOptions, FcamOptions, Sizes
from attnx_sdc.plane_drawing import FINE, PlaneDrawing


def softmax(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(1)


def looked(drawing, model, data):
    with torch.no_grad():
        batch = model.encode(data.test[: drawing.examples])
        trace = model.run(batch, model.embed(batch))
        return drawing.collect(model, trace, data), trace


@pytest.fixture(scope="module")
def plane():
    data = ErrorMode1(Sizes(train=20, dev=10, test=40)).load(Source())
    torch.manual_seed(0)
    return Fcam.build(data, softmax, FcamOptions(focus="linear", classifier="linear")).eval(), data


def test_the_maps_are_the_focus_and_the_decisions_of_the_model(plane):
    model, data = plane
    kept, trace = looked(PlaneDrawing(), model, data)
    for at in (0, FINE - 1, FINE * FINE // 2 + 7):
        up, across = divmod(at, FINE)
        (left, low), (right, high) = kept["around points"]
        x = [left + (across + 0.5) / FINE * (right - left), low + (up + 0.5) / FINE * (high - low)]
        assert kept["scores"][up, across] == pytest.approx(
            model.focus(torch.tensor([x], dtype=torch.float32)).item(), abs=1e-4
        )
    (left, low), (right, high) = kept["around attended"]
    assert np.allclose(kept["attended"], torch.bmm(trace.attention[:, None], trace.hidden)[:, 0], atol=1e-6)
    cells = ((kept["attended"] - [left, low]) / [right - left, high - low] * FINE).astype(int)
    region = kept["decided"][cells[:, 1], cells[:, 0]]
    assert (
        region == trace.predicted.numpy()
    ).mean() > 0.9  # a cell's middle is on the side of nearly all in it


def test_the_drawing_puts_every_point_where_it_was(plane):
    model, data = plane
    kept, trace = looked(PlaneDrawing(), model, data)
    figure = Figure()
    PlaneDrawing().draw(figure, kept)
    left, right = figure.axes[:2]
    assert [axes.get_title() for axes in (left, right)] == [
        "focus over the base distributions", "decision over attended points",
    ]  # fmt: skip
    assert left.images[0].origin == right.images[0].origin == "lower"
    labels = trace.batch.labels.numpy()
    for y, dots in enumerate(right.collections):
        assert np.allclose(dots.get_offsets(), kept["attended"][labels == y])
    assert [dots.get_label() for dots in left.collections] == ["background", *data.label_names]
    foreground = np.array([[unit != "background" for unit in e.units] for e in trace.batch.examples]).ravel()
    assert np.allclose(left.collections[0].get_offsets(), kept["points"][~foreground])


def test_a_plane_is_drawn_only_for_points_in_a_plane(plane):
    data = Digits(DigitsOptions(train=20, dev=10, test=10)).load(Source())
    model = Fcam.build(data, softmax, FcamOptions(channels=2))
    assert looked(PlaneDrawing(), model, data)[0] is None
    assert looked(OverlayDrawing(), *plane)[0] is None


def test_overlays_show_the_word_the_weights_and_the_box():
    data = make_data(ShapesOptions(train=6, dev=3, test=4, grid=4, patch=8))
    torch.manual_seed(0)
    model = ShowAttendTell.build(data, softmax, ShowAttendTellOptions(hidden=8)).eval()
    kept, trace = looked(OverlayDrawing(), model, data)
    figure = Figure()
    OverlayDrawing().draw(figure, kept)
    above, below = figure.axes[: len(trace.batch)], figure.axes[len(trace.batch) :]
    assert above[0].get_title().endswith(data.label_names[data.test[0].label])
    assert below[1].get_title() == f"prediction: {data.label_names[int(trace.predicted[1])]}"
    assert np.allclose(below[0].images[1].get_array().ravel(), trace.attention[0])
    patch = data.features[data.test[0].rows[5]]  # second row, second column
    assert (above[0].images[0].get_array()[8:16, 8:16] == patch.transpose(1, 2, 0)).all()
    marked = np.reshape(data.test[0].rationale, (4, 4))
    edges = np.abs(np.diff(np.pad(marked.astype(int), 1), axis=0))[:, 1:-1].sum()
    edges += np.abs(np.diff(np.pad(marked.astype(int), 1), axis=1))[1:-1].sum()
    assert len(above[0].lines) == edges > 0  # a line for every edge of the frame
