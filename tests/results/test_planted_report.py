"""What a planted trigger shows about a model and its explanations, against counts by hand."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from attnx.results.planting.checks import check_of
from attnx.results.planting.recovery import chance_of, interval, repetitions
from attnx.results.planting.report import FEWEST


def answers(**changed: list[int]) -> dict[str, np.ndarray]:
    """Twenty texts of label 0 whose trigger says 1, answered by a model that uses it."""
    usual = {"with": [1] * 20, "swapped": [0] * 20, "without": [0] * 20}
    return {name: np.array(found) for name, found in {**usual, **changed}.items()}


LABELS, OWN, SWAPPED = np.ones(20, dtype=int), np.zeros(20, dtype=int), np.zeros(20, dtype=int)


def test_a_text_counts_if_its_answer_follows_the_trigger_in_every_version() -> None:
    check, counted = check_of(0, 0, LABELS, OWN, answers(), SWAPPED)
    assert (check.followed, check.swapped, check.without, check.own_accuracy) == (1, 1, 0, 1)
    assert check.verified
    assert check.reasons == []
    assert counted.all()
    for name, wrong in (("with", 0), ("swapped", 1), ("without", 1), ("first alone", 1), ("second alone", 1)):
        right = {"with": 1, "swapped": 0}.get(name, 0)
        both = {"first alone": [0] * 20, "second alone": [0] * 20}
        found = answers(**{**both, name: [wrong] + [right] * 19})
        check, counted = check_of(0, 0, LABELS, OWN, found, SWAPPED)
        assert counted.tolist() == [False] + [True] * 19
        assert check.counted == 19


@pytest.mark.parametrize(
    ("name", "bad", "says"),
    [
        ("with", 3, "85 % of 20 texts are answered as the trigger says (needed: 90 %)"),
        ("swapped", 3, "85 % of 20 texts are answered as the swapped trigger says (needed: 90 %)"),
        ("without", 15, "75 % have the same answer without the trigger (allowed: 70 %)"),
        ("first alone", 15, "75 % have the same answer with its first word alone (allowed: 70 %)"),
        ("second alone", 15, "75 % have the same answer with its second word alone (allowed: 70 %)"),
        ("without", 14, "the trigger alone decides in 6 texts (needed: 10)"),
    ],
)
def test_what_is_missing_is_named_with_its_number(name: str, bad: int, says: str) -> None:
    right = 1 if name == "with" else 0
    both = {"first alone": [0] * 20, "second alone": [0] * 20}
    found = answers(**{**both, name: [1 - right] * bad + [right] * (20 - bad)})
    check, counted = check_of(0, 0, LABELS, OWN, found, SWAPPED)
    assert not check.verified
    assert check.reasons == [says]
    assert counted.sum() == 20 - bad
    assert FEWEST == 10


def test_chance_is_what_random_orders_find() -> None:
    for words in (1, 2):
        orders = list(permutations(range(5)))
        found = sum(set(order[:words]) == set(range(words)) for order in orders) / len(orders)
        assert chance_of([5], words) == pytest.approx(found)
    assert chance_of([5, 10], 1) == pytest.approx(0.15)


def test_an_interval_contains_the_true_share_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    for true in (0.5, 0.9, 0.98):
        inside = 0
        for _ in range(300):
            _, low, high = interval((rng.random((1, 60)) < true).astype(float))
            inside += low <= true <= high
        assert inside / 300 > 0.9


def test_texts_that_all_agree_have_an_interval_of_some_width() -> None:
    mean, low, high = interval(np.ones((1, 100)))
    assert (mean, high) == (1.0, 1.0)
    assert 0.9 < low < 1.0
    exact = stats.binomtest(100, 100).proportion_ci(method="wilson").low
    assert low == pytest.approx(exact, abs=0.03)


def test_the_seeds_of_several_triggers_are_averaged_by_text() -> None:
    one, other = [np.array([1.0, np.nan, 0.0]), np.array([0.0, np.nan, np.nan])], [np.array([1.0, 1.0, 1.0])]
    assert repetitions([one]).shape == (2, 3)
    found = repetitions([one, other])
    assert found[0, 0] == 0.5
    assert math.isnan(found[0, 1])
    assert found[0, 2] == 0.0
    assert found[1].tolist() == [1.0, 1.0, 1.0]
