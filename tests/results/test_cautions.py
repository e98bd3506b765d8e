"""Warnings where a number cannot mean what it seems, and none where it can."""

import numpy as np
import pytest

from attnx.plugin import Example, TaskData
from attnx.results.cautions import cautions, useless_model
from attnx.results.observations import Observation, SeedResult, TrainingRecord, Traits
from attnx.results.report import Summary

EXAMPLES = 300
LABELS = np.arange(EXAMPLES) % 2


def data(test_words=("one", "two"), labels=LABELS):
    def split(name, words):
        return tuple(Example(f"{name}-{i}", words, int(label)) for i, label in enumerate(labels))

    return TaskData(
        split("train", ("one", "two")), split("dev", ("one",)), split("test", test_words), ("no", "yes")
    )


def results(right=0.9, seeds=3, labels=LABELS, traits=None, unread=None):
    found = []
    for seed in range(seeds):
        correct = np.random.default_rng(seed).random(EXAMPLES) < right
        predicted = np.where(correct, labels, 1 - labels)
        known = traits or {name: Traits(False, 0.0) for name in ("attention", "loo")}
        observation = Observation(np.eye(2)[predicted], labels, (), {}, known, unread=unread)
        found.append(SeedResult(seed, TrainingRecord(course=(), best_epoch=0), observation))
    return found


def summary(n=EXAMPLES, undefined=0, metric="kendall", family="agreement", reference="loo"):
    return Summary(
        metric=metric,
        measure="tau",
        family=family,
        explanation="attention",
        reference=reference,
        group="all",
        mean=0.5,
        sd=0.1,
        n=n,
        undefined=undefined,
        low=0.4,
        high=0.6,
        direction="up",
        baselines={},
        seeds=(0.5,),
    )


def test_a_good_run_has_no_warning():
    assert cautions(results(), [summary()], data(), "") == ()


def test_a_model_at_chance_is_not_worth_explaining():
    assert useless_model(results(right=0.9), data()) == ""
    told = useless_model(results(right=0.5), data())
    assert "not shown to be better than always answering" in told
    assert any("nothing is judged" in line for line in cautions(results(right=0.5), [], data(), told))


def test_the_commonest_label_of_test_counts_too():
    """Train is balanced, test is not: always answering its commonest label is as good as the model."""
    labels = (np.random.default_rng(9).random(EXAMPLES) < 0.9).astype(int)
    told = useless_model(results(right=0.9, labels=labels), data())
    assert "always answering 'yes', the commonest of test" in told


def test_a_model_whose_labels_changed_places_is_asked_about_them():
    told = useless_model(results(right=0.1), data())
    assert told.startswith("the model is worse than always answering")
    assert "are its labels in the task's order, " in told


def test_a_single_seed_is_said_to_cover_no_other_training():
    (said,) = cautions(results(seeds=1), [summary()], data(), "")
    assert "not other trainings" in said


def test_two_seeds_are_said_to_give_wide_intervals():
    (said,) = cautions(results(seeds=2), [summary()], data(), "")
    assert said.startswith("two training seeds")


@pytest.mark.parametrize("signed", ["attention", "loo"])
def test_signed_scores_ranked_against_unsigned_ones_are_told(signed):
    traits = {name: Traits(name == signed, 0.0) for name in ("attention", "loo")}
    (said,) = cautions(results(traits=traits), [summary()], data(), "")
    assert said.startswith(f"'{signed}' has negative scores")


def test_scores_that_are_constant_in_most_examples_order_nothing():
    traits = {"attention": Traits(False, 0.8), "loo": Traits(False, 0.0)}
    (said,) = cautions(results(traits=traits), [summary()], data(), "")
    assert "the same score in 80% of the examples" in said


def test_a_mean_over_survivors_is_told():
    (said,) = cautions(results(), [summary(n=40, undefined=260)], data(), "")
    assert "a mean over the 40 of 300 examples" in said


def test_words_that_train_never_had_are_told():
    (said,) = cautions(results(), [], data(test_words=("one", "new", "newer", "newest")), "")
    assert "75% of the test split's words never occur in train" in said


def test_words_that_a_pretrained_model_knows_are_not_held_against_it():
    new = data(test_words=("one", "new", "newer", "newest"))
    assert cautions(results(), [], new, "", ("attention", "unseen-words")) == ()


def test_texts_that_are_too_long_for_the_model_are_counted():
    unread = np.zeros(EXAMPLES, dtype=int)
    assert cautions(results(unread=unread), [summary()], data(), "") == ()
    unread[[3, 5]] = 1
    (said,) = cautions(results(unread=unread), [summary()], data(), "")
    assert said.startswith("2 of 300 test examples are longer than the model reads: 2 of 600 units")


def test_seeds_that_gave_one_model_are_told():
    same = [results(seeds=1)[0]] * 2
    (said,) = cautions(same, [summary()], data(), "")
    assert said.startswith("all seeds gave the same model")


def test_a_model_that_was_given_ready_is_not_told_to_train_more_seeds():
    (told,) = cautions(results(seeds=1), [], data(), "")
    assert told == "one model as it was given: intervals cover other examples, not other trainings"
