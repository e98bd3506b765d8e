"""Whether claims hold in values whose answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from attnx.registry.experiments import Claim
from attnx.results.judgement.claims import RowValues, decide, measured

ROWS = ["a", "b"]


def sample(mean: float, *, seeds: int = 3, n: int = 200, spread: float = 1.0, draw: int = 0) -> RowValues:
    values = np.random.default_rng(draw).normal(size=(seeds, n))
    values -= values.mean(1, keepdims=True)  # the mean of every seed is what it is said to be
    return RowValues(mean + spread * values, "the same examples")


def claim(**form: Any) -> Claim:
    return Claim.model_validate({"says": "So it is.", **form})


def test_a_claim_holds_where_every_difference_is_beyond_noise_in_its_direction() -> None:
    samples = {("a", "x"): sample(1.0), ("b", "x"): sample(2.0, draw=1)}
    assert decide(claim(column="x", higher="b", than="a"), ROWS, samples).status == "holds"
    assert decide(claim(column="x", above=0.5), ROWS, samples).status == "holds"
    assert decide(claim(column="x", below=2.5), ROWS, samples).status == "holds"


def test_it_does_not_hold_where_one_difference_is_beyond_noise_in_the_other() -> None:
    samples = {("a", "x"): sample(1.0), ("b", "x"): sample(2.0, draw=1)}
    assert decide(claim(column="x", higher="a", than="b"), ROWS, samples).status == "does not hold"
    found = decide(claim(column="x", above=1.5), ROWS, samples)
    assert [one.status for one in found.compared] == ["does not hold", "holds"]
    assert found.status == "does not hold"


def test_it_is_open_within_noise() -> None:
    samples = {("a", "x"): sample(1.0), ("b", "x"): sample(1.01, draw=1)}
    assert decide(claim(column="x", higher="b", than="a"), ROWS, samples).status == "open"
    one_sure = {("a", "x"): sample(1.0), ("b", "x"): sample(0.001, draw=1)}
    found = decide(claim(column="x", above=0), ROWS, one_sure)
    assert [one.status for one in found.compared] == ["holds", "open"]
    assert found.status == "open"


def test_one_seed_decides_nothing() -> None:
    """It says nothing of other trainings, however many examples there are."""
    for mean in (5.0, -5.0):
        assert decide(claim(column="x", above=0), ["a"], {("a", "x"): sample(mean, seeds=1)}).status == "open"


def test_differences_are_paired_on_the_same_examples() -> None:
    """What all rows share, such as hard examples, is no noise of their difference."""
    common = sample(0.0, spread=5.0).values
    shifted = {("a", "x"): RowValues(common, "one"), ("a", "y"): RowValues(common + 0.01, "one")}
    greater = claim(greater=("y", "x"))
    assert decide(greater, ["a"], shifted).status == "holds"
    apart = {**shifted, ("a", "y"): RowValues(sample(0.01, spread=5.0, draw=1).values, "one")}
    assert decide(greater, ["a"], apart).status == "open"


def test_other_examples_are_compared_by_the_means_of_seeds() -> None:
    """Then the interval is Student's over seeds."""
    a = RowValues(np.array([[1.0, 3.0], [2.0, 4.0], [2.0, 2.0]]), "these")
    b = RowValues(np.array([[0.0], [1.5], [0.5]]), "those")
    found = decide(claim(column="x", higher="a", than="b"), ROWS, {("a", "x"): a, ("b", "x"): b}).compared[0]
    each = np.array([2.0, 1.5, 1.5])  # 2 − 0, 3 − 1.5, 2 − .5
    low, high = stats.t.interval(0.95, 2, each.mean(), stats.sem(each))
    assert found.difference == pytest.approx(each.mean())
    assert (found.low, found.high) == pytest.approx((low, high))


def test_the_other_direction_is_corrected_for_the_number_of_comparisons() -> None:
    """Twenty rows that are all equal to the bound would else refute a claim in two papers of three."""
    rows = [f"row {number}" for number in range(20)]
    values = np.array([[-1.0], [-1.4], [-0.7]])  # below 0 at 95 %, not at 99.75 %
    assert stats.t.interval(0.95, 2, values.mean(), stats.sem(values[:, 0]))[1] < 0
    alone = {("row 0", "x"): RowValues(values, None)}
    assert decide(claim(column="x", above=0), rows[:1], alone).status == "does not hold"
    all_of_them = {**{(row, "x"): RowValues(-values, None) for row in rows}, **alone}
    assert decide(claim(column="x", above=0), rows, all_of_them).status == "open"


def test_rows_that_were_not_run_are_counted_and_not_guessed() -> None:
    found = decide(claim(column="x", above=0), ["a", "b", "c"], {("a", "x"): sample(1.0)})
    assert (found.status, len(found.compared), found.missing) == ("holds", 1, 2)
    assert decide(claim(column="x", above=0), ["b"], {}).status == "open"


def test_a_claim_may_be_about_some_rows() -> None:
    samples = {("a", "x"): sample(1.0), ("b", "x"): sample(-1.0)}
    assert decide(claim(column="x", above=0, rows=["a"]), ROWS, samples).status == "holds"


def test_several_runs_are_averaged_seed_by_seed() -> None:
    of_two = RowValues.of_several(
        [RowValues(np.array([[1.0, 3.0], [2.0, 2.0]]), "p"), RowValues(np.array([[0.0], [4.0]]), "q")]
    )
    assert of_two.values.tolist() == [[1.0], [3.0]]  # (2 + 0) / 2, (2 + 4) / 2
    found = measured("a", "x", of_two, 0.5)
    assert (found.mean, found.seeds, found.cells, found.published) == (2.0, (1.0, 3.0), 2, 0.5)
