"""Shares against closed forms and simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from attnx.results.judgement.grades import grade_of, needed_for, side_of
from attnx.results.judgement.shares import Share, mean_over_seeds_by_text, mean_over_texts, share_of


def test_the_share_is_the_ratio_of_means() -> None:
    gain, range_ = np.array([[0.1, 0.3, 0.2, 0.4] * 5]), np.array([[0.5, 0.5, 0.4, 1.0] * 5])
    found = share_of(gain, range_)
    assert found.value == pytest.approx(1.0 / 2.4)
    assert found.low < found.value < found.high
    assert found.texts == 20


def test_texts_without_a_value_are_left_out_in_pairs() -> None:
    gain, range_ = np.full((1, 20), 0.2), np.full((1, 20), 0.4)
    gain[0, 3], range_[0, 5] = np.nan, np.nan
    assert share_of(gain, range_).texts == 18


def test_seeds_are_averaged_text_by_text() -> None:
    values = np.array([[1.0, np.nan, 3.0], [3.0, 5.0, np.nan]])
    assert mean_over_seeds_by_text(values).tolist() == [2.0, 5.0, 3.0]


def test_an_explanation_equal_to_the_best_has_an_interval_that_ends_at_1() -> None:
    range_ = np.full((1, 50), 0.5)
    found = share_of(range_, range_)
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0.9 < found.low < 1.0  # all texts agree, and a few more could still differ


def test_there_is_no_share_where_no_order_matters_or_texts_are_few() -> None:
    assert not share_of(np.zeros((1, 50)), np.zeros((1, 50))).known
    assert not share_of(np.ones((1, 9)), np.ones((1, 9))).known


def test_copies_of_a_seed_change_nothing() -> None:
    rng = np.random.default_rng(0)
    range_ = rng.uniform(0.2, 0.8, (1, 80))
    gain = range_ * rng.uniform(0, 1, (1, 80))
    one, three = share_of(gain, range_), share_of(np.repeat(gain, 3, 0), np.repeat(range_, 3, 0))
    assert (one.value, one.low, one.high) == pytest.approx((three.value, three.low, three.high))


@pytest.mark.parametrize("true", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("texts", [40, 150])
def test_the_interval_covers_the_share_as_often_as_it_says(true: float, texts: int) -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(600):
        range_ = rng.gamma(2.0, 0.2, (1, texts))
        right = rng.random((1, texts)) < true  # explained perfectly, or at random
        gain = np.where(right, range_, rng.normal(0, 0.15, (1, texts)))
        found = share_of(gain, range_)
        covered += found.low <= true <= found.high
    assert 0.92 <= covered / 600 <= 0.99


@pytest.mark.parametrize(
    ("share", "low", "high", "grade"),
    [
        (-0.3, -0.4, -0.2, "misleading"),
        (-0.03, -0.05, -0.01, "random"),  # below, but by next to nothing
        (0.0, -0.1, 0.1, "random"),
        (0.04, 0.01, 0.07, "random"),
        (0.1, 0.02, 0.18, "weak"),
        (0.3, 0.1, 0.5, "partial"),
        (0.6, 0.5, 0.7, "good"),
        (0.75, 0.7, 0.8, "strong"),
        (0.2, -0.1, 0.5, "unknown"),
        (-0.2, -0.5, 0.1, "unknown"),
        (math.nan, math.nan, math.nan, "unknown"),
    ],
)
def test_grades_follow_the_share_and_its_interval(share: float, low: float, high: float, grade: str) -> None:
    assert grade_of(Share(share, low, high, 100)) == grade


def test_four_times_the_texts_halve_the_interval() -> None:
    """0.2 ± 0.3 on 100 texts: ± 0.2 would leave 0 out, at 100 · (0.3 / 0.2)² texts."""
    assert needed_for(Share(0.2, -0.1, 0.5, 100)) == 225


def test_sides_of_random() -> None:
    assert [side_of(share) for share in (-0.2, -0.04, 0.0, 0.04, 0.2)] == [-1, 0, 0, 0, 1]


def test_the_interval_of_a_mean_over_texts_is_students() -> None:
    from scipy import stats

    values = np.random.default_rng(2).normal(1, 2, (1, 30))
    expected = stats.t.interval(0.95, 29, values.mean(), stats.sem(values[0]))
    assert mean_over_texts(values) == pytest.approx(expected)
