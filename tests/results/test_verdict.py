"""The rule that turns the removal test into a verdict, held to cases with a known answer."""

from __future__ import annotations

import numpy as np
import pytest

from attnx.results.judgement.constant_answer import UselessModel
from attnx.results.judgement.records import Verdict
from attnx.results.judgement.verdict import About, Judged, judge
from attnx.results.observations import Measurement, Observation, SeedResult, TrainingRecord
from attnx.types import Measure, RemovalColumn

TEXTS = 200
QUESTIONS = ("comprehensiveness", "sufficiency")


def column(values, removal, order, question=None, setting="all"):
    measure = Measure(f"{removal} {order} {question} {setting}", "none", (-3, 3),
                      column=RemovalColumn(removal, order, question, setting), shown=False)  # fmt: skip
    return measure, values


def columns_of(share, rng, texts, disturbance, opposite=(), one_question=False, signed=None, noise=0.2):
    """What an explanation of that share measures: random 0, best 1, half of it in each question."""
    found = []
    for removal in ("delete", "replace"):
        own = share[removal] + rng.normal(0, noise, texts)
        parts = (own, np.zeros(texts)) if one_question else (own / 2, -own / 2)
        best = (0.6, -0.4) if one_question else (0.5, -0.5)
        for question, mine, most in zip(QUESTIONS, parts, best, strict=True):
            found += [
                column(mine, removal, "explanation", question),
                column(np.zeros(texts), removal, "random", question),
                column(np.full(texts, most), removal, "search", question),
            ]
            if removal == "replace":
                found.append(column(np.full(texts, most), removal, "delete-search", question))
        found.append(column(parts[0] - parts[1], removal, "explanation"))
        found.append(column(np.full(texts, -0.4), removal, "worst"))
        with_signs = np.full(texts, np.nan if signed is None else signed)
        found.append(column(with_signs, removal, "signed"))
        found.append(column(np.full(texts, 0.3), removal, "random-signed"))
        for setting in ("small sets", "large sets"):
            gain = -own if setting in opposite else own
            found.append(column(gain, removal, "explanation", setting=setting))
        found.append(column(np.full(texts, disturbance[removal]), removal, None))
    return tuple(measure for measure, _ in found), np.stack([values for _, values in found], axis=1)


def results(explanations, *, texts=TEXTS, seeds=1, disturbance=None, **shape):
    """Seeds of a run in which each explanation has that share, or one for each removal."""
    moved = disturbance or {"delete": 0.1, "replace": 0.2}
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        rows = []
        for name, share in explanations.items():
            given = share if isinstance(share, dict) else {"delete": share, "replace": share}
            measures, values = columns_of(given, rng, texts, moved, **shape)
            rows.append(
                Measurement("faithfulness", "erasure", "units", measures, name, None, False, values, ())
            )
        labels = np.arange(texts) % 2
        observation = Observation(np.eye(2)[labels], labels, tuple(rows), {}, {})
        found.append(SeedResult(seed, TrainingRecord(course=(), best_epoch=0), observation))
    return found


def judged(found, explanations=("attention",), **about) -> Judged:
    return judge(found, list(explanations), About(own="attention", random="random", **about))


def verdict(found, **about) -> Verdict:
    return judged(found, **about).verdicts[0]


def kinds(v: Verdict) -> list[str]:
    return [clause.kind for clause in v.clauses]


@pytest.mark.parametrize(
    ("share", "grade"),
    [(-0.3, "misleading"), (0.0, "random"), (0.15, "weak"), (0.4, "partial"), (0.6, "good"), (0.9, "strong")],
)
def test_the_grade_follows_the_share(share, grade):
    found = verdict(results({"attention": share}))
    assert found.grade == grade
    assert found.share == pytest.approx(share, abs=0.05)
    assert found.share_low < found.share < found.share_high


def test_a_wide_interval_says_how_many_texts_would_decide():
    found = verdict(results({"attention": 0.2}, texts=12, noise=0.8))
    assert (found.grade, "too-few" in kinds(found)) == ("unknown", True)
    assert found.needed > 12


def test_the_removal_that_disturbs_less_answers():
    shares = {"attention": {"delete": 0.0, "replace": 0.8}}
    by_deleting = verdict(results(shares))
    by_replacing = verdict(results(shares, disturbance={"delete": 0.3, "replace": 0.1}))
    assert (by_deleting.grade, by_deleting.removals[0].removal) == ("random", "delete")
    assert (by_replacing.grade, by_replacing.removals[0].removal) == ("strong", "replace")
    assert "removals-differ" in kinds(by_deleting)
    assert "0.100 against 0.300" in by_replacing.sentence


def test_removals_that_agree_are_said_to():
    assert "removals-agree" in kinds(verdict(results({"attention": 0.6})))


def test_one_question_alone_is_weak_and_named():
    found = verdict(results({"attention": 0.6}, one_question=True))
    assert (found.grade, "one-question" in kinds(found)) == ("weak", True)
    assert "not enough for the prediction" in found.sentence


def test_a_sign_that_does_not_hold_in_every_part_of_the_test_decides_nothing():
    found = verdict(results({"attention": 0.6}, opposite=("large sets",)))
    assert (found.grade, "settings-differ" in kinds(found)) == ("unknown", True)


def test_more_seeds_never_lose_an_answer():
    for seeds in (1, 2, 3, 5):
        found = verdict(results({"attention": 0.6}, seeds=seeds))
        assert (found.grade, found.seeds, found.agreeing_seeds) == ("good", seeds, seeds)


def test_other_training_runs_are_spoken_of_from_five_seeds_on():
    assert verdict(results({"attention": 0.6}, seeds=4)).other_runs_low is None
    found = verdict(results({"attention": 0.6}, seeds=5))
    assert found.other_runs_low < 0.6 < found.other_runs_high
    assert "other-runs" in kinds(found)


def test_a_useless_model_has_no_verdict():
    found = judged(results({"attention": 0.9}), useless=UselessModel("no", "the model is useless"))
    assert {v.grade for v in found.verdicts} == {"unknown"}
    assert found.verdicts[0].clauses[0].kind == "no-verdict"
    assert found.ranking == ()


def test_scores_without_signs_are_told_from_scores_of_the_wrong_size():
    right_sizes = verdict(results({"attention": 0.2}, signed=1.0)).signs
    wrong_sizes = verdict(results({"attention": 0.2}, signed=0.3)).signs
    assert (right_sizes.share, right_sizes.sizes) == (pytest.approx(1.0, abs=0.05), pytest.approx(1.0))
    assert wrong_sizes.sizes == pytest.approx(0.0)
    assert (
        "random sizes with these signs do as well"
        in verdict(results({"attention": 0.2}, signed=0.3)).sentence
    )


def test_the_ranking_recommends_the_cheapest_of_those_that_are_as_good():
    found = judged(
        results({"attention": 0.2, "loo": 0.9, "input-x-gradient": 0.9}),
        passes={"attention": 0.0, "loo": 20.0, "input-x-gradient": 1.0},
    )
    best = [one.explanation for one in found.ranking if one.recommended]
    assert best == ["input-x-gradient"]
    assert [one.group for one in found.ranking] == [1, 1, 2]
    assert "use input-x-gradient" in found.verdicts[0].sentence.lower()


def test_where_nothing_is_better_than_random_nothing_is_recommended():
    found = judged(results({"attention": 0.0}))
    assert not any(one.recommended for one in found.ranking)
    assert "none of the explanations tested here" in found.verdicts[0].sentence.lower()


def test_what_mends_an_explanation_is_named():
    found = judged(
        results({"attention": 0.2, "attention-x-gradient": 0.7}),
        repairs={"attention": ("attention-x-gradient",)},
    )
    assert "what helps: attention-x-gradient gets" in found.verdicts[0].sentence.lower()


def test_explanations_of_equal_quality_rarely_differ():
    """The share of runs in which two equal explanations are told apart; six are compared."""
    apart = 0
    for run in range(60):
        rng = np.random.default_rng(run)
        rows = []
        for name in "abcdef":
            measures, values = columns_of(
                {"delete": 0.5, "replace": 0.5}, rng, 100, {"delete": 0.1, "replace": 0.2}
            )
            rows.append(
                Measurement("faithfulness", "erasure", "units", measures, name, None, False, values, ())
            )
        labels = np.arange(100) % 2
        observation = Observation(np.eye(2)[labels], labels, tuple(rows), {}, {})
        seed = SeedResult(0, TrainingRecord(course=(), best_epoch=0), observation)
        apart += max(one.group for one in judged([seed], ["a"]).ranking) > 1
    assert apart <= 6  # of 60, where 3 are expected at most


def test_metrics_that_cannot_decide_say_what_would():
    tau = Measure("tau", "up", (-1, 1))
    labels = np.arange(20) % 2
    rows = (
        Measurement(
            "kendall", "agreement", "scores", (tau,), "attention", "loo", False, np.ones((20, 1)), ()
        ),
    )
    observation = Observation(np.eye(2)[labels], labels, rows, {}, {})
    found = verdict([SeedResult(0, TrainingRecord(course=(), best_epoch=0), observation)])
    assert (found.grade, kinds(found)) == ("unknown", ["not-tested"])
    assert "--metric faithfulness" in found.sentence
