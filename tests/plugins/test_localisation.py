"""Localisation against scipy's cosine and drawn masks."""

import numpy as np
import pytest
from scipy.spatial.distance import cosine
from test_plausibility import evidence

from attnx_plausibility.localisation import Localisation
from attnx_plausibility.options import LocalisationOptions


def localise(rows, rationales, **options):
    return Localisation(LocalisationOptions(**options))(evidence(rows, rationales)).numpy()


def test_cosines_are_scipys_whatever_the_padding():
    rng = np.random.default_rng(0)
    sizes = rng.integers(4, 30, size=12)
    rows = [rng.normal(size=n) for n in sizes]
    marks = [rng.random(n) < 0.4 for n in sizes]
    for marked in marks:
        marked[0] = True
    found = localise([row.tolist() for row in rows], [marked.tolist() for marked in marks], fraction=0.25)
    for row, marked, (excess, of_scores, uniform, of_top, _) in zip(rows, marks, found, strict=True):
        k = max(1, round(0.25 * len(row)))
        top = np.zeros(len(row))
        top[np.argsort(-row)[:k]] = 1
        assert of_scores == pytest.approx(1 - cosine(row, marked.astype(float)))
        assert uniform == pytest.approx(1 - cosine(np.ones(len(row)), marked.astype(float)))
        assert excess == pytest.approx(of_scores - uniform)
        assert of_top == pytest.approx(1 - cosine(top, marked.astype(float)))


def test_random_units_have_on_average_what_draws_have():
    """A box of 36 in 14 x 14 patches, and 20 patches as in the paper."""
    rng = np.random.default_rng(0)
    marked = np.zeros((14, 14), dtype=bool)
    marked[3:9, 5:11] = True
    draws = [1 - cosine((rng.permutation(196) < 20) * 1.0, marked.ravel() * 1.0) for _ in range(4000)]
    ((*_, random),) = localise([rng.random(196).tolist()], [marked.ravel().tolist()])
    assert random == pytest.approx(np.mean(draws), rel=0.02)


def test_the_marks_themselves_are_the_best_there_is():
    marks = [True, True, False, False, False, False]
    third = np.sqrt(1 / 3)
    found = localise([[1.0, 1, 0, 0, 0, 0]], [marks], fraction=1 / 3)[0]
    assert found == pytest.approx([1 - third, 1, third, 1, 1 / 3])
    assert localise([[-1.0, -1, 0, 0, 0, 0]], [marks], fraction=1 / 3)[0, 1] == pytest.approx(-1)


def test_scores_that_know_nothing_earn_nothing():
    names = [measure.name for measure in Localisation.measures]
    marks = [[True] * 8 + [False] * 2]
    found = dict(zip(names, localise([[0.1] * 10], marks)[0], strict=True))
    assert found["cosine"] > 0.89
    assert found["excess"] == pytest.approx(0, abs=1e-12)
    assert [measure.name for measure in Localisation.measures if measure.direction == "up"] == [
        "excess",
        "top-k",
    ]


def test_undefined_without_marks_and_without_scores():
    rows = [[0.5, 0.5], [0.5, 0.5], [0.0, 0.0], [0.5, 0.0]]
    marks = [[False, False], None, [True, False], [True, False]]
    assert np.isnan(localise(rows, marks)).all(1).tolist() == [True, True, True, False]
