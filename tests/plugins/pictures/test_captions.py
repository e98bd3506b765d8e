"""Captions looked at patch by patch: what the drawings promise, and what the captioner sees."""

import numpy as np
import pytest
import torch

import attnx
from attnx.testing import assert_conforms
from attnx_pictures.grid import cut, marked
from attnx_pictures.options import ShapesOptions, ShowAttendTellOptions
from attnx_pictures.shapes import COLOURS, SHAPES, draw_scene
from attnx_pictures.shapes_captions import make_data
from attnx_pictures.show_attend_tell import ShowAttendTell

SMALL = ShapesOptions(train=10, dev=4, test=10, grid=5, patch=8)


def softmax(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(1)


softmax.trains_by_expectation = False  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def data():
    return make_data(SMALL)


@pytest.fixture
def model(data):
    torch.manual_seed(0)
    return ShowAttendTell.build(data, softmax, ShowAttendTellOptions(hidden=12, embedding=6)).eval()


def test_patches_put_together_are_the_picture():
    images = np.random.default_rng(0).integers(0, 255, (2, 3, 12, 12), dtype=np.uint8)
    patches = cut(images, 3)
    assert patches.shape == (18, 3, 4, 4)
    assert np.array_equal(patches[9 + 5], images[1, :, 4:8, 8:12])  # second row, third column


def test_a_box_marks_the_patches_it_covers_by_half():
    grid = np.array(marked([(4, 0, 10, 4)], 12, 3)).reshape(3, 3)
    assert grid.tolist() == [[False, True, True], [False] * 3, [False] * 3]
    tiny = np.array(marked([(5, 5, 6, 6)], 12, 3)).reshape(3, 3)
    assert tiny.sum() == 1
    assert tiny[1, 1]


def test_a_box_has_the_colour_of_its_thing_and_the_rest_is_grey():
    rng = np.random.default_rng(3)
    for _ in range(20):
        scene = draw_scene(rng, 40, 3)
        outside = np.ones((40, 40), dtype=bool)
        for thing in scene.things:
            left, top, right, bottom = (round(edge) for edge in thing.box)
            outside[max(0, top - 1) : bottom + 1, max(0, left - 1) : right + 1] = False
            inside = scene.picture[:, top:bottom, left:right].reshape(3, -1).T.astype(int)
            near = (abs(inside - np.array(COLOURS[thing.colour])).max(1) <= 12).mean()
            assert near > 0.25
        assert abs(scene.picture[:, outside].astype(int) - 127).max() <= 12


def test_captions_are_true_of_their_pictures():
    rng = np.random.default_rng(4)
    for _ in range(50):
        scene = draw_scene(rng, 40, 3)
        words = [word for word, _ in scene.caption]
        described = [thing for word, thing in scene.caption if word in SHAPES]
        first, second = described
        assert (words[1], words[2]) == (first.colour, first.shape)
        assert (words[-2], words[-1]) == (second.colour, second.shape)
        (x1, y1), (x2, y2) = first.centre, second.centre
        true = {"left": x1 < x2, "right": x1 > x2, "above": y1 < y2, "below": y1 > y2}
        assert true[words[3]]


def test_every_word_is_an_example_and_test_has_the_shapes(data):
    captions = [example for example in data.train if example.id.startswith("train-0.")]
    words = [data.label_names[example.label] for example in captions]
    assert words[0] == "a"
    assert words[-1] == "."
    assert [example.query for example in captions] == [tuple(words[:i]) for i in range(len(words))]
    assert {data.label_names[example.label] for example in data.test} <= set(SHAPES)
    assert all(any(example.rationale) for example in data.test)
    assert len(data.test) == 20


def test_a_deleted_patch_is_grey_and_the_others_stay_where_they_are(model, data):
    batch = model.encode(data.test[:2])
    kept = torch.tensor([[0, 1, 2, *range(4, 25)]] * 2)  # without the fourth patch
    shorter = batch.keep(torch.arange(2), kept)
    grey = model.embed(batch).clone()
    grey[:, 3] = 0
    whole = model.run(batch, grey)
    short = model.run(shorter, model.embed(shorter))
    assert torch.allclose(short.hidden, whole.hidden[:, kept[0]], atol=1e-6)
    scores = whole.scores.clone()
    scores[:, 3] = -torch.inf
    assert torch.allclose(short.logits, model.reattend(whole, scores.softmax(1)), atol=1e-5)


def test_the_words_so_far_decide_where_it_looks(model, data):
    same = [example for example in data.train if example.id.startswith("train-0.")][:3]
    trace = model.run(batch := model.encode(same), model.embed(batch))
    assert torch.equal(batch.inputs[0], batch.inputs[1])
    assert not torch.allclose(trace.scores[0], trace.scores[1])


def test_the_captioner_passes_the_conformance_tests(model, data):
    assert_conforms("model", model, data)


def test_features_computed_elsewhere_are_taken_as_they_are(data):
    torch.manual_seed(0)
    from dataclasses import replace

    given = replace(data, features=np.random.default_rng(0).normal(size=(len(data.features), 5)).astype("f4"))
    model = ShowAttendTell.build(given, softmax, ShowAttendTellOptions(hidden=8))
    batch = model.encode(given.test[:2])
    assert model.embed(batch).shape == (2, 25, 5)
    assert model.run(batch, model.embed(batch)).logits.shape == (2, len(given.label_names))


def test_a_run_localises_and_erases():
    report = attnx.evaluate(
        "shapes-captions:train=20,dev=4,test=6,grid=4",
        "show-attend-tell:hidden=8",
        metrics=["localisation", "comprehensiveness", "permutation"],
        training={"epochs": 1},
        progress=False,
    )
    assert report.select("random-k", metric="localisation").n == 12
    assert report.select("aopc", metric="comprehensiveness").mean is not None
