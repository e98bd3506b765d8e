"""Selective dependence tasks: what Algorithm 1 promises, and the error modes the paper describes."""

import numpy as np
import pytest

import attnx
from attnx.plugin import Source
from attnx_sdc.digits import Digits
from attnx_sdc.error_modes import ErrorMode1, ErrorMode2, ErrorMode3
from attnx_sdc.mosaics import draw_points
from attnx_sdc.options import Blob, DigitsOptions, Sdc2dOptions, SdcOptions, SdcTextOptions, Sizes
from attnx_sdc.plane import BACKGROUND, FOREGROUND, Plane
from attnx_sdc.sdc import Sdc
from attnx_sdc.text import EVIDENCE, SdcText

SMALL = {"train": 300, "dev": 100, "test": 200}
TASKS = [
    Sdc(SdcOptions(**SMALL)),
    Plane(Sdc2dOptions(**SMALL)),
    Digits(DigitsOptions(**SMALL)),
    ErrorMode1(Sizes(**SMALL)),
    ErrorMode3(Sizes(**SMALL)),
]


def splits(data):
    return {"train": data.train, "dev": data.dev, "test": data.test}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_every_mosaic_has_one_foreground_segment_and_its_label(task):
    data = task.load(Source())
    for split, examples in splits(data).items():
        assert len(examples) == SMALL[split]
        for example in examples:
            assert len(example.units) == 9
            assert sum(example.rationale) == 1
            position = example.rationale.index(True)
            assert example.units[position] == data.label_names[example.label]
            assert set(example.units) - {"background"} == {example.units[position]}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_base_points_of_the_splits_are_disjoint(task):
    data = task.load(Source())
    rows = [{row for example in split for row in example.rows} for split in splits(data).values()]
    assert not rows[0] & rows[1]
    assert not rows[0] & rows[2]
    assert not rows[1] & rows[2]


def test_position_and_class_are_uniform():
    data = Plane(Sdc2dOptions(train=9000, dev=1, test=1)).load(Source())
    positions = np.bincount([example.rationale.index(True) for example in data.train], minlength=9)
    labels = np.bincount([example.label for example in data.train], minlength=3)
    assert positions == pytest.approx(np.full(9, 1000), rel=0.12)
    assert labels == pytest.approx(np.full(3, 3000), rel=0.08)


def test_segments_come_from_the_gaussians_of_the_paper():
    data = Plane(Sdc2dOptions(train=2000, dev=1, test=1)).load(Source())
    points = {True: [], False: []}
    for example in data.train:
        for row, foreground in zip(example.rows, example.rationale, strict=True):
            points[foreground].append((example.label, *data.features[row]))
    foreground = np.array(points[True])
    for label, mean in enumerate(FOREGROUND):
        mine = foreground[foreground[:, 0] == label, 1:]
        assert mine.mean(0) == pytest.approx(mean, abs=0.02)
        assert mine.var(0) == pytest.approx([0.01, 0.01], rel=0.25)
    background = np.array(points[False])[:, 1:]
    nearest = np.linalg.norm(background[:, None] - np.array(BACKGROUND)[None], axis=2).min(1)
    assert nearest.max() < 0.6
    shares = np.bincount(np.linalg.norm(background[:, None] - np.array(BACKGROUND)[None], axis=2).argmin(1))
    assert shares / len(background) == pytest.approx(np.full(7, 1 / 7), abs=0.02)


def test_digits_show_the_digit_they_are_labelled_with():
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    data = Digits(DigitsOptions(**SMALL, foreground="358")).load(Source())
    assert data.label_names == ("digit 3", "digit 5", "digit 8")
    assert data.features.reshape(len(images), -1) == pytest.approx(images / 16)
    for example in data.test:
        row = example.rows[example.rationale.index(True)]
        assert digits[row] == (3, 5, 8)[example.label]
        others = [digits[row] for row, here in zip(example.rows, example.rationale, strict=True) if not here]
        assert not set(others) & {3, 5, 8}


def test_planted_words_decide_the_label():
    data = SdcText(SdcTextOptions(train=200, dev=10, test=10, evidence=2)).load(Source())
    for example in data.train:
        planted = [word for word, here in zip(example.units, example.rationale, strict=True) if here]
        assert len(planted) == 2
        assert set(planted) <= set(EVIDENCE[example.label])
        rest = [word for word, here in zip(example.units, example.rationale, strict=True) if not here]
        assert not set(rest) & {word for words in EVIDENCE for word in words}
    assert len({len(example.units) for example in data.train}) > 3


def test_another_seed_gives_other_mosaics_and_the_same_seed_the_same():
    first, again, other = (Plane(Sdc2dOptions(**SMALL, seed=seed)).load(Source()) for seed in (0, 0, 1))
    assert first.train == again.train
    assert np.array_equal(first.features, again.features)
    assert not np.array_equal(first.features, other.features)


def test_points_of_a_file_can_be_the_base_distributions(tmp_path):
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1, 2], 200)
    points = rng.standard_normal((600, 4)) + classes[:, None]
    np.savez(tmp_path / "points.npz", points=points, classes=classes)
    data = Sdc(SdcOptions(**SMALL, file=tmp_path / "points.npz")).load(Source())
    for example in data.train:
        assert classes[example.rows[example.rationale.index(True)]] == example.label + 1
        assert sum(classes[row] == 0 for row in example.rows) == 8


def test_boxes_are_uniform_and_gaussians_normal():
    from scipy import stats

    rng = np.random.default_rng(0)
    box = draw_points(rng, [Blob(kind="box", centre=(1, 2), spread=(0.5, 3))], 4000)
    assert stats.kstest(box[:, 0], stats.uniform(0.5, 1).cdf).pvalue > 0.01
    assert stats.kstest(box[:, 1], stats.uniform(-1, 6).cdf).pvalue > 0.01
    gaussian = draw_points(rng, [Blob(centre=(1, 2), spread=0.5)], 4000)
    assert stats.kstest(gaussian[:, 1], stats.norm(2, 0.5).cdf).pvalue > 0.01


@pytest.mark.parametrize("mode", [ErrorMode1, ErrorMode2, ErrorMode3])
def test_oracle_focus_puts_every_foreground_segment_on_top(mode):
    data = mode(Sizes(**SMALL)).load(Source())
    for example in (*data.train, *data.dev, *data.test):
        assert np.argmax(data.oracle[list(example.rows)]) == example.rationale.index(True)


def test_no_linear_focus_is_right_in_error_mode_2():
    data = ErrorMode2(Sizes(**SMALL)).load(Source())
    rows = np.array([example.rows for example in data.test])
    truth = np.array([example.rationale.index(True) for example in data.test])
    angles = np.linspace(0, 2 * np.pi, 360)
    directions = np.stack([np.cos(angles), np.sin(angles)])  # [2, 360]
    scores = data.features[rows] @ directions  # [N, 9, 360]
    assert (scores.argmax(1) == truth[:, None]).mean(0).max() < 0.75


@pytest.mark.parametrize(
    ("mode", "seeds"), [(1, 1), *(pytest.param(mode, 5, marks=pytest.mark.slow) for mode in (2, 3))]
)
def test_training_finds_accurate_models_that_focus_wrongly(mode, seeds):
    report = attnx.evaluate(f"sdc-error-mode-{mode}", metrics=["focus"], seeds=range(seeds), progress=False)
    accurate = [quality.accuracy >= 0.97 for quality in report.quality]
    assert sum(accurate) >= min(seeds, 4)
    assert report.select("ft").high < 0.8


@pytest.mark.parametrize("mode", [1, 2, 3])
def test_a_perfect_pair_exists_in_every_error_mode(mode):
    report = attnx.evaluate(
        f"sdc-error-mode-{mode}",
        "fcam:focus=oracle",
        metrics=["focus"],
        training={"epochs": 100},
        progress=False,
    )
    assert report.quality[0].accuracy >= 0.99
    assert report.select("ft").mean == 1.0
