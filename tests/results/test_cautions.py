"""Warnings where a number cannot mean what it seems, and none where it can."""

import re
from dataclasses import replace

import numpy as np
import pytest

from attnx.plugin import Example, TaskData
from attnx.results.judgement.cautions import cautions, few_seeds, no_attention, notices_of
from attnx.results.judgement.constant_answer import most_frequent_label, useless_model
from attnx.results.observations import Epoch, Observation, SeedResult, TrainingRecord, Traits
from attnx.results.report import Summary
from attnx.results.summaries import quality

EXAMPLES = 300
LABELS = np.arange(EXAMPLES) % 2


def data(test_words=("one", "two"), labels=LABELS):
    def split(name, words):
        return tuple(
            Example(f"{name}-{i}", words, int(label), query=(f"{name} {i}",))
            for i, label in enumerate(labels)
        )

    return TaskData(
        split("train", ("one", "two")), split("dev", ("one",)), split("test", test_words), ("no", "yes")
    )


def results(right=0.9, seeds=3, labels=LABELS, traits=None, unread=None):
    found = []
    for seed in range(seeds):
        correct = np.random.default_rng(seed).random(EXAMPLES) < right
        predicted = np.where(correct, labels, 1 - labels)
        known = traits or {name: Traits(False, 0.0, False) for name in ("attention", "loo")}
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
    assert cautions(results(), [summary()], data(), None) == ()


def test_a_model_at_chance_is_not_worth_explaining():
    assert useless_model(results(right=0.9), data()) is None
    useless = useless_model(results(right=0.5), data())
    assert "not significantly better than always predicting" in useless.text
    (caution,) = cautions(results(right=0.5), [], data(), useless)
    assert caution.kind == "not-better-than-constant"
    assert caution.about == ("no",)
    assert caution.text == f"No verdict: {useless.text}"


def test_one_majority_accuracy_is_used_for_quality_and_caution():
    """Train is balanced, test is not: always predicting its most frequent label is as good as the model."""
    labels = (np.random.default_rng(9).random(EXAMPLES) < 0.9).astype(int)
    found = results(right=0.9, labels=labels)
    useless = useless_model(found, data())
    assert useless.label == "yes"
    assert "always predicting 'yes', the most frequent test label" in useless.text
    (majority,) = {row.majority for row in quality(found, data())}
    assert majority == pytest.approx(labels.mean())
    assert f"vs. {majority:.3f}" in useless.text


def test_of_equally_frequent_test_labels_the_one_of_train_is_meant():
    mostly_yes = tuple(Example(f"train-{i}", ("one",), int(i > 0)) for i in range(3))
    assert most_frequent_label(replace(data(), train=mostly_yes), LABELS) == 1


def test_a_model_whose_labels_changed_places_is_asked_about_them():
    useless = useless_model(results(right=0.1), data())
    assert useless.text.startswith("the model is significantly worse than always predicting")
    assert useless.text.endswith("Next: check that the model's labels are in the task's order: no, yes")


def trained(found):
    epoch = Epoch(epoch=0, loss=None, dev_loss=1.0, dev_accuracy=0.5, followed={})
    return [replace(result, record=TrainingRecord(course=(epoch,), best_epoch=0)) for result in found]


def test_a_model_that_did_not_learn_is_to_be_trained_longer():
    useless = useless_model(trained(results(right=0.48)), data())
    assert useless.text.endswith("Next: train longer (--train epochs=N) or on more texts")


def test_a_model_that_was_not_trained_here_is_not_to_be_trained_longer():
    useless = useless_model(results(right=0.48), data())
    assert useless.text.endswith(
        "Next: bring a model that solves the task, or check that its labels are the task's"
    )


def test_the_seed_that_did_not_learn_is_named():
    found = trained(results(right=0.9, seeds=2)) + trained(results(right=0.48, seeds=3)[2:])
    assert "Next: seed 2 did not learn, the other 2 did; train longer" in useless_model(found, data()).text


def test_few_texts_are_answered_by_how_many_would_decide():
    """Right in 8 of 12 texts where a constant answer is right in 6: more texts like these decide."""
    labels = np.array([0, 1] * 6)
    predicted = np.where(np.arange(12) < 4, 1 - labels, labels)

    def useless(times):
        (seed,) = trained(results(seeds=1))
        logits = np.eye(2)[np.tile(predicted, times)]
        seen = replace(seed.observation, labels=np.tile(labels, times), logits=logits)
        return useless_model([replace(seed, observation=seen)], data())

    needed = int(re.search(r"Next: about (\d+) test texts", useless(1).text)[1])
    assert useless(needed // 12 + 2) is None
    assert useless(needed // 12 // 2) is not None


def test_seeds_that_all_learn_to_different_degrees_ask_for_more_of_them():
    found = trained(results(right=0.65, seeds=1) + [replace(r, seed=1) for r in results(right=1.0, seeds=1)])
    assert "Next: more training runs (e.g. --seeds 0-4)" in useless_model(found, data()).text


def test_seeds_that_only_beat_it_together_ask_for_more_of_them():
    """Wrong in 31 and in 28 of 80 texts, never in the same; a constant answer is wrong in 40."""
    labels = np.array([0, 1] * 40)
    found = []
    for seed, wrong in ((0, slice(0, 31)), (1, slice(31, 59))):
        predicted = labels.copy()
        predicted[wrong] = 1 - predicted[wrong]
        (one,) = trained(results(seeds=1))
        seen = replace(one.observation, labels=labels, logits=np.eye(2)[predicted])
        found.append(replace(one, seed=seed, observation=seen))
    text = useless_model(found, data()).text
    assert "the mean of these beats it" in text


def only(**settings):
    (caution,) = cautions(results(**settings), [summary()], data(), None)
    return caution


def test_a_single_model_is_said_to_cover_one_training_run():
    caution = only(seeds=1)
    assert caution.kind == "not-retrained"
    assert "not other training runs" in caution.text


def test_a_single_trained_seed_is_asked_for_more():
    epochs = tuple(
        Epoch(epoch=n, loss=None, dev_loss=1.0, dev_accuracy=0.5 + n / 10, followed={}) for n in range(2)
    )
    found = [replace(results(seeds=1)[0], record=TrainingRecord(course=epochs, best_epoch=1))]
    (caution,) = cautions(found, [summary()], data(), None)
    assert caution.kind == "one-seed"
    assert caution.text.endswith("Use at least three, e.g. --seeds 0-2")
    untrained = [replace(found[0], record=TrainingRecord(course=epochs, best_epoch=0))]
    first, _ = cautions(untrained, [summary()], data(), None)
    assert (first.kind, first.about) == ("untrained", ("0",))


def test_two_seeds_are_said_to_give_wide_intervals():
    caution = only(seeds=2)
    assert caution.kind == "two-seeds"
    assert caution.text.startswith("Only two training seeds")


@pytest.mark.parametrize("signed", ["attention", "loo"])
def test_signed_scores_compared_with_unsigned_ones_are_reported(signed):
    other = "loo" if signed == "attention" else "attention"
    traits = {name: Traits(name == signed, 0.0, name == signed) for name in ("attention", "loo")}
    caution = only(traits=traits)
    assert (caution.kind, caution.about) == ("signed-scores", (signed, other))
    assert caution.text.startswith(f"'{signed}' has signs and '{other}' has none")


def test_scores_that_are_constant_in_most_examples_rank_nothing():
    traits = {"attention": Traits(False, 0.8, False), "loo": Traits(False, 0.0, True)}
    caution = only(traits=traits)
    assert (caution.kind, caution.about) == ("constant-scores", ("attention",))
    assert "all words of an example the same score in 80% of the examples" in caution.text
    (of_units,) = cautions(results(traits=traits), [summary()], data(), None, unit="unit")
    assert "all units of an example" in of_units.text


def test_a_mean_over_few_examples_is_reported():
    (caution,) = cautions(results(), [summary(n=40, undefined=260)], data(), None)
    assert (caution.kind, caution.about) == ("undefined-values", ("kendall", "tau", "attention", "loo"))
    assert "defined for only 40 of 300 examples" in caution.text


def test_words_that_train_never_had_are_reported():
    (caution,) = cautions(results(), [], data(test_words=("one", "new", "newer", "newest")), None)
    assert caution.kind == "unknown-words"
    assert "75% of the test split's words never occur in train" in caution.text


def test_words_that_a_pretrained_model_knows_are_not_held_against_it():
    new = data(test_words=("one", "new", "newer", "newest"))
    assert cautions(results(), [], new, None, ("attention", "unseen-words")) == ()


def test_texts_that_are_too_long_for_the_model_are_counted():
    unread = np.zeros(EXAMPLES, dtype=int)
    assert cautions(results(unread=unread), [summary()], data(), None) == ()
    unread[[3, 5]] = 1
    caution = only(unread=unread)
    assert caution.kind == "cut-off"
    assert caution.text.startswith("2 of 300 test examples are longer than the model reads, or have words")
    assert caution.text.endswith(": 2 of 600 words have no score")


def test_seeds_that_gave_one_model_are_reported():
    same = [results(seeds=1)[0]] * 2
    (caution,) = cautions(same, [summary()], data(), None)
    assert caution.kind == "same-model"


def test_a_model_without_attention_and_notices_name_what_they_are_about():
    caution = no_attention("black-box", ["gradient", "loo"])
    assert (caution.kind, caution.about) == ("no-attention", ("black-box", "gradient", "loo"))
    assert "'gradient', 'loo'" in caution.text
    (notice,) = notices_of("model", ("Its head is new",))
    assert (notice.kind, notice.about, str(notice)) == ("notice", ("model",), "Its head is new")


def kinds(given):
    return [caution.kind for caution in cautions(results(), [summary()], given, None)]


def test_two_texts_sixty_times_each_are_said_to_be_two():
    given = data()
    copied = tuple(replace(example, query=(str(i % 2),)) for i, example in enumerate(given.test))
    (found,) = cautions(results(), [summary()], replace(given, test=copied), None)
    assert found.kind == "copies-in-test"
    assert "300 test examples are only 2 different ones" in found.text


def test_a_few_copies_are_not_worth_a_warning():
    given = data()
    copied = (*given.test[:-3], *(replace(given.test[0], id=f"copy-{i}") for i in range(3)))
    assert kinds(replace(given, test=copied)) == []


def test_test_examples_that_training_saw_are_counted():
    given = data()
    seen = (*given.train[:60], *given.test[60:])
    (found,) = cautions(results(), [summary()], replace(given, test=seen), None)
    assert found.kind == "copies-of-train"
    assert "60 of 300 test examples occur in train too" in found.text


def test_a_test_split_of_one_label_is_reported():
    given = data()
    one = tuple(replace(example, label=1) for example in given.test)
    (found,) = cautions(results(), [summary()], replace(given, test=one), None)
    assert (found.kind, found.about) == ("one-label", ("yes",))


def test_few_seeds_of_a_study_are_reported_as_those_of_a_run():
    assert [caution.kind for seeds in (1, 2, 3) for caution in few_seeds(seeds)] == ["one-seed", "two-seeds"]
