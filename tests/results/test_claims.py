"""Whether claims hold in values whose answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from attnx.registry.experiments import Claim
from attnx.results.judgement.claims import Found, RowValues, measured
from attnx.results.judgement.claims import decide as decide_from
from attnx.results.judgement.undertrained import why_undertrained
from attnx.results.reproduction import ClaimFound, TrainedModel

ROWS = ["a", "b"]


def sample(mean: float, *, seeds: int = 3, n: int = 200, spread: float = 1.0, draw: int = 0) -> RowValues:
    values = np.random.default_rng(draw).normal(size=(seeds, n))
    values -= values.mean(1, keepdims=True)  # the mean of every seed is what it is said to be
    return RowValues(mean + spread * values, "the same examples")


def decide(
    claim: Claim, rows: list[str], samples: dict[tuple[str, str], RowValues], **more: Any
) -> ClaimFound:
    return decide_from(
        claim, rows, Found(**{"samples": samples, "published": {}, "undertrained": {}, **more})
    )


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
    assert decide(claim(column="x", above=0), rows, alone).status == "open"  # the others may be run later


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


def test_runs_that_are_counted_have_an_interval_of_some_width_if_all_agree() -> None:
    def of(*runs: list[float]) -> RowValues:
        return RowValues.of_several([RowValues(np.array(run)[:, None], None) for run in runs])

    three, twelve = (of(*[[1.0, 1.0, 1.0]] * runs) for runs in (3, 12))
    mostly = claim(column="x", above=0.5)
    assert decide(mostly, ["a"], {("a", "x"): three}).status == "open"
    assert decide(mostly, ["a"], {("a", "x"): twelve}).status == "holds"
    rarely = claim(column="x", below=0.5)
    assert decide(rarely, ["a"], {("a", "x"): twelve}).status == "does not hold"
    exact = stats.binomtest(12, 12).proportion_ci(method="wilson").low
    found = measured("a", "x", twelve, None)
    assert (found.mean, found.high, found.cells) == (1.0, 1.0, 12)
    assert found.low == pytest.approx(exact, abs=0.05)
    gaps = of([1.0, np.nan], [0.0, 1.0], [0.0, 0.0])  # a run without a value is left out of its seed only
    assert measured("a", "x", gaps, None).seeds == (pytest.approx(1 / 3), 0.5)


def test_a_comparison_of_models_that_did_not_learn_says_nothing_in_either_direction() -> None:
    samples = {("a", "x"): sample(1.0), ("b", "x"): sample(2.0, draw=1)}
    lazy = {"a": "accuracy 0.51"}
    for higher, than in (("a", "b"), ("b", "a")):
        found = decide(claim(column="x", higher=higher, than=than), ROWS, samples, undertrained=lazy)
        assert (found.status, found.compared[0].status) == ("undertrained", "undertrained")
        assert found.reason == "a: accuracy 0.51"
        assert found.next_step == "more epochs or more training data"
    found = decide(claim(column="x", above=0), ROWS, samples, undertrained=lazy)
    assert [one.status for one in found.compared] == ["undertrained", "holds"]
    assert found.status == "undertrained"
    refuted = decide(
        claim(column="x", above=1.5), ROWS, {**samples, ("b", "x"): sample(0.0)}, undertrained=lazy
    )
    assert refuted.status == "does not hold"  # by the row that is trained


def test_a_model_that_is_said_to_be_less_accurate_need_not_be_trained() -> None:
    samples = {("a", "accuracy"): sample(0.5, spread=0.1), ("b", "accuracy"): sample(0.9, spread=0.1, draw=1)}
    said = claim(column="accuracy", higher="b", than="a")
    told = {"undertrained": {"a": "accuracy 0.50"}}
    assert decide(said, ROWS, samples, accuracies=["accuracy"], **told).status == "holds"
    assert decide(said, ROWS, samples, **told).status == "undertrained"
    other = claim(column="accuracy", higher="a", than="b")
    assert decide(other, ROWS, samples, accuracies=["accuracy"], **told).status == "undertrained"


def test_the_printed_difference_is_given_next_to_ours() -> None:
    samples = {("a", "x"): sample(1.0), ("a", "y"): sample(2.0, draw=1), ("b", "x"): sample(0.5, draw=2)}
    printed = {("a", "x"): 1.5, ("a", "y"): 4.0, ("b", "x"): None}
    (one,) = decide(claim(greater=("y", "x")), ["a"], samples, published=printed).compared
    assert one.published == pytest.approx(2.5)
    found = decide(claim(column="x", below=2), ROWS, samples, published=printed)
    assert [one.published for one in found.compared] == [pytest.approx(0.5), None]


def test_how_many_seeds_would_decide_follows_from_difference_and_spread() -> None:
    """Student's interval of so many seeds with the same mean and spread no longer includes 0."""
    values = np.array([[0.5], [2.0], [-0.4], [0.9]])
    found = decide(claim(column="x", above=0), ["a"], {("a", "x"): RowValues(values, None)})
    (one,) = found.compared
    assert one.status == "open"
    assert one.seeds_needed is not None
    half = stats.t.ppf(0.975, one.seeds_needed - 1) * values.std(ddof=1) / np.sqrt(one.seeds_needed)
    assert values.mean() > half
    assert found.next_step == f"about {one.seeds_needed} seeds, if difference and spread stay the same"
    nothing = decide(claim(column="x", above=0), ["a"], {("a", "x"): RowValues(values - values.mean(), None)})
    assert "nothing practical" in nothing.next_step
    one_seed = decide(claim(column="x", above=0), ["a"], {("a", "x"): sample(1.0, seeds=1)})
    assert one_seed.next_step == "at least three seeds"


@pytest.mark.parametrize(
    ("accuracy", "published", "moved", "why"),
    [
        (0.80, 0.81, 0.4, ""),
        (0.74, 0.81, 0.4, ""),  # three quarters of the published gain
        (0.70, 0.81, 0.4, "accuracy 0.70; published 0.81, always predicting one label 0.50"),
        (0.80, 0.81, 0.04, "training moved 4.0 % of the attention weight"),
        (0.80, 0.81, None, ""),  # a model without attention
        (0.54, None, 0.4, "accuracy 0.54; always predicting one label 0.50"),
        (0.60, None, 0.4, ""),
        (0.50, 0.51, 0.4, ""),  # the paper's own model did not learn either
    ],
)
def test_a_model_counts_as_undertrained_by_its_accuracy_or_by_its_attention(
    accuracy: float, published: float | None, moved: float | None, why: str
) -> None:
    model = TrainedModel(
        row="a", task="t", model="m", accuracy=accuracy, constant=0.5, published=published, moved=moved
    )
    assert why_undertrained(model) == why
