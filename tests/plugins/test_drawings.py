"""Drawings of models on planes and pictures: what they show is what the model does."""

import numpy as np
import pytest
import torch

from attnx import Source
from attnx_pictures.grid import cut
from attnx_pictures.options import ShapesOptions, ShowAttendTellOptions
from attnx_pictures.overlay_drawing import OverlayDrawing, put_together
from attnx_pictures.shapes_captions import make_data
from attnx_pictures.show_attend_tell import ShowAttendTell
from attnx_sdc.error_modes import ErrorMode1
from attnx_sdc.fcam import Fcam
from attnx_sdc.options import DigitsOptions, FcamOptions, Sizes
from attnx_sdc.plane_drawing import FINE, PlaneDrawing


def softmax(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(1)


@pytest.fixture(scope="module")
def plane():
    data = ErrorMode1(Sizes(train=20, dev=10, test=40)).load(Source())
    torch.manual_seed(0)
    return Fcam.build(data, softmax, FcamOptions(focus="linear", classifier="linear")).eval(), data


def test_the_regions_are_the_decisions_on_attended_points(plane):
    model, data = plane
    figure = PlaneDrawing()(model, data)
    left, right, _ = figure.axes
    assert left.get_title() == "focus over the base distributions"
    regions = right.collections[0]
    decided = np.asarray(regions.get_array()).ravel()
    assert decided.size in (FINE**2, (FINE - 1) ** 2)
    batch = model.encode(data.test)
    trace = model.run(batch, model.embed(batch))
    drawn = sum(len(points.get_offsets()) for points in right.collections[1:])
    assert drawn == len(data.test)
    attended = torch.einsum("bl,blh->bh", trace.attention, trace.hidden).detach().numpy()
    grid = np.asarray(regions.get_coordinates())
    nearest = [np.abs(grid - point).sum(-1).argmin() for point in attended]
    logits = model.classifier(torch.from_numpy(grid.reshape(-1, 2)[nearest]).float())
    agreeing = (logits.argmax(1) == trace.predicted).float().mean()
    assert agreeing > 0.9  # a cell's middle lies on the same side as nearly every point in it


def test_a_plane_is_drawn_of_points_in_a_plane_alone(plane):
    from attnx_sdc.digits import Digits

    data = Digits(DigitsOptions(train=20, dev=10, test=10)).load(Source())
    model = Fcam.build(data, softmax, FcamOptions(channels=2))
    assert PlaneDrawing()(model, data) is None
    assert OverlayDrawing()(*plane) is None


def test_patches_are_put_together_as_they_were_cut():
    image = np.random.default_rng(0).integers(0, 255, (1, 3, 12, 12), dtype=np.uint8)
    whole = put_together(cut(image, 3))
    assert np.allclose(whole, image[0].transpose(1, 2, 0) / 255)


def test_overlays_show_the_word_the_weights_and_the_box():
    data = make_data(ShapesOptions(train=6, dev=3, test=4, grid=4, patch=8))
    torch.manual_seed(0)
    model = ShowAttendTell.build(data, softmax, ShowAttendTellOptions(hidden=8)).eval()
    figure = OverlayDrawing()(model, data)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[0].endswith(data.label_names[data.test[0].label])
    assert titles[len(titles) // 2].startswith("says ")
    overlay = figure.axes[len(titles) // 2].images[1]
    batch = model.encode(data.test[:6])
    weights = model.run(batch, model.embed(batch)).attention[0].detach().numpy()
    assert np.allclose(overlay.get_array().ravel(), weights)
    assert figure.axes[0].lines  # the frame
