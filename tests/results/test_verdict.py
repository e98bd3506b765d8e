"""The rule that turns measures into a verdict, held to cases with a known answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnx.results.judgement.constant_answer import UselessModel
from attnx.results.judgement.verdict import judge, row_status
from attnx.results.judgement.wording import CLAUSES, evidence, grade, question
from attnx.results.observations import Measurement, Observation, SeedResult, TrainingRecord
from attnx.types import Measure

SEEDS, EXAMPLES = 3, 200
COMPREHENSIVENESS = Measure("aopc", "up", (-1, 1))
TAU = Measure("tau", "up", (-1, 1))


def measurement(metric, family, measure, explanation, values, reference=None, sees="units"):
    return Measurement(metric, family, sees, (measure,), explanation, reference, False, values[:, None], ())


def results(*effects, noise=0.1, seeds=SEEDS):
    """Seeds in which (metric, family, measure, explanation) is that much better than random scores."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        rows = []
        for metric, family, measure, explanation, effect in effects:
            random = rng.normal(0, noise, EXAMPLES)
            rows.append(measurement(metric, family, measure, "random", random))
            if explanation != "random":
                values = random + effect + rng.normal(0, noise, EXAMPLES)
                rows.append(measurement(metric, family, measure, explanation, values))
        logits = np.eye(2)[np.arange(EXAMPLES) % 2]
        observation = Observation(logits, np.arange(EXAMPLES) % 2, tuple(rows), {}, {})
        found.append(SeedResult(seed, TrainingRecord(course=(), best_epoch=0), observation))
    return found


def verdict(found, family=None, heading="faithfulness", **settings):
    verdicts = judge(found, ["attention"], own="attention", random="random", **{"inversions": {}, **settings})
    (one,) = [v for v in verdicts if (v.family, v.heading) == (family, heading)]
    return one


@pytest.mark.parametrize(("effect", "status"), [(0.4, "supported"), (-0.2, "contradicted"), (0.0, "chance")])
def test_a_right_a_wrong_and_an_uninformative_explanation(effect, status):
    found = results(("comprehensiveness", "erasure", COMPREHENSIVENESS, "attention", effect))
    assert verdict(found).status == verdict(found, "erasure").status == status


def test_a_gain_too_small_to_be_worth_naming_is_no_better_than_chance():
    found = results(("comprehensiveness", "erasure", COMPREHENSIVENESS, "attention", 0.02), noise=0.02)
    (row,) = verdict(found, "erasure").rows
    assert row.low > 0
    assert row.status == "chance"


def test_noise_that_hides_the_answer_is_unknown():
    found = results(("comprehensiveness", "erasure", COMPREHENSIVENESS, "attention", 0.1), noise=2.0)
    assert verdict(found).status == "unknown"


def test_down_is_better_where_the_arrow_says_so():
    down = Measure("aopc", "down", (-1, 1), best=-1)
    found = results(("sufficiency", "erasure", down, "attention", -0.3))
    (row,) = verdict(found, "erasure").rows
    assert (row.status, row.difference < 0) == ("supported", True)


def test_a_heading_follows_erasure_and_names_what_disagrees():
    found = results(
        ("kendall", "agreement", TAU, "attention", 0.5),
        ("comprehensiveness", "erasure", COMPREHENSIVENESS, "attention", -0.3),
    )
    heading = verdict(found)
    assert heading.status == "contradicted"
    erasure, agreement = heading.clauses
    assert (erasure.family, erasure.status) == ("erasure", "contradicted")
    assert (agreement.family, agreement.status) == ("agreement", "supported")
    assert heading.says == (
        "the words it ranks highest affect the output less than random words do; "
        "but it ranks words more like other methods than random scores do"
    )
    assert heading.reason == heading.says  # the numbers are in the families


def test_only_the_model_s_own_attention_is_called_these_weights():
    found = results(("decision-flip", "intervention", COMPREHENSIVENESS, "loo", 0.4))
    settings = {"random": "random", "inversions": {}}
    (mine, _) = judge(found, ["loo"], own="loo", **settings)
    assert mine.says == "changing these weights affects the output more than changing random ones"
    (other, _) = judge(found, ["loo"], own="attention", **settings)
    assert other.says.startswith("changing attention on the words it ranks highest affects the output more")


def test_units_of_other_tasks_are_not_called_words():
    found = results(("comprehensiveness", "erasure", COMPREHENSIVENESS, "attention", 0.4))
    assert verdict(found, unit="unit").says == (
        "the units it ranks highest affect the output more than random units do"
    )


def test_rows_of_a_family_that_contradict_each_other_make_it_unknown():
    found = results(
        ("comprehensiveness", "erasure", COMPREHENSIVENESS, "attention", 0.4),
        ("sufficiency", "erasure", TAU, "attention", -0.4),
    )
    erasure = verdict(found, "erasure")
    assert erasure.status == "unknown"
    assert erasure.says == "its metrics contradict each other"  # each of them does tell it from random


def test_a_family_without_a_reliable_metric_says_so():
    found = results(("fooled", "erasure", COMPREHENSIVENESS, "attention", 0.4))
    erasure = verdict(found, "erasure", inversions={"fooled": 0.2})
    assert erasure.status == "unknown"
    assert erasure.says.startswith("none of its metrics is reliable enough to decide")


def test_the_audit_is_looked_up_by_label():
    """The plan gives every label the audit of its component: no label is taken apart here."""
    found = results(("kendall:variant=c", "agreement", TAU, "attention", 0.5))
    (row,) = verdict(found, "agreement", inversions={"kendall:variant=c": 0.2}).rows
    assert not row.decides
    (row,) = verdict(found, "agreement", inversions={"kendall": 0.2}).rows
    assert row.decides


def test_a_metric_that_the_audit_saw_fooled_is_shown_and_does_not_decide():
    effects = (
        ("fooled", "erasure", COMPREHENSIVENESS, "attention", 0.4),
        ("comprehensiveness", "erasure", COMPREHENSIVENESS, "attention", -0.4),
    )
    found = verdict(results(*effects), "erasure", inversions={"fooled": 0.2})
    assert found.status == "contradicted"
    assert [row.decides for row in found.rows] == [False, True]
    assert "excluded from the verdict: too many errors in the audit" in found.reason


def test_a_model_that_knows_nothing_explains_nothing():
    found = results(("comprehensiveness", "erasure", COMPREHENSIVENESS, "attention", 0.4))
    useless = UselessModel("yes", "the model is at chance")
    heading, family = (verdict(found, of, useless=useless) for of in (None, "erasure"))
    assert heading.status == family.status == "unknown"
    assert not heading.judged
    assert not family.judged
    assert heading.reason == "the model is at chance"  # said once, not under every family
    assert grade(heading) == "No verdict"


def test_no_interval_leaves_the_differences_that_a_measure_can_have():
    """Two seeds that disagree say next to nothing, and Student's quantile of one degree is 12.7."""
    apart = [
        results(("kendall", "agreement", TAU, "attention", effect), seeds=2)[seed]
        for seed, effect in enumerate((0.9, 0.1))
    ]
    (row,) = verdict(apart, "agreement").rows
    assert (row.low, row.high) == (-2, 2)


def test_without_random_scores_there_is_no_verdict():
    found = results(("comprehensiveness", "erasure", COMPREHENSIVENESS, "attention", 0.4))
    assert judge(found, ["attention"], own="attention", random="", inversions={}) == ()


def test_an_explanation_is_not_judged_by_its_agreement_with_itself():
    rng = np.random.default_rng(0)
    rows = [
        measurement("kendall", "agreement", TAU, name, rng.normal(0, 0.1, EXAMPLES), "loo")
        for name in ("loo", "random")
    ]
    observation = Observation(np.zeros((EXAMPLES, 2)), np.zeros(EXAMPLES), tuple(rows), {}, {})
    found = [SeedResult(0, TrainingRecord(course=(), best_epoch=0), observation)]
    assert judge(found, ["loo"], own="attention", random="random", inversions={}) == ()


def test_a_family_names_only_the_references_that_bear_it_out():
    rng = np.random.default_rng(0)
    rows = [
        measurement("kendall", "agreement", TAU, name, rng.normal(effect, spread, EXAMPLES), reference)
        for reference, spread, effect in (("gradient", 0.1, 0.5), ("loo", 9.0, 0.5))
        for name, effect in (("random", 0.0), ("attention", effect))
    ]
    observation = Observation(np.zeros((EXAMPLES, 2)), np.zeros(EXAMPLES), tuple(rows), {}, {})
    found = verdict([SeedResult(0, TrainingRecord(course=(), best_epoch=0), observation)], "agreement")
    assert [row.status for row in found.rows] == ["supported", "unknown"]
    (clause,) = found.clauses
    assert clause.references == ("gradient",)
    assert clause.text == "it ranks words more like gradient than random scores do"
    assert found.reason.startswith(f"{clause.text}: kendall tau with gradient")


def test_random_scores_themselves_are_chance_by_definition():
    found = results(("comprehensiveness", "erasure", COMPREHENSIVENESS, "attention", 0.4))
    verdicts = judge(found, ["random"], own="attention", random="random", inversions={})
    assert {v.status for v in verdicts} == {"chance"}


def test_nothing_to_speak_of_needs_no_correction_as_every_row_of_the_family_must_say_so():
    many = [(f"test {i}", "erasure", COMPREHENSIVENESS, "attention", 0.0) for i in range(12)]
    found = verdict(results(*many), "erasure")
    assert any(row.low < -0.05 or row.high > 0.05 for row in found.rows)  # corrected for twelve rows
    assert found.status == "chance"
    one_more = ("test of something", "erasure", COMPREHENSIVENESS, "attention", 0.5)
    assert verdict(results(*many, one_more), "erasure").status == "supported"


def test_a_row_without_a_value_or_an_interval_says_so():
    nothing, alone = np.full(EXAMPLES, np.nan), np.full(EXAMPLES, np.nan)
    alone[0] = 0.5

    def reason(values):
        rows = [measurement("mi", "information", TAU, name, values) for name in ("attention", "random")]
        observation = Observation(np.zeros((EXAMPLES, 2)), np.zeros(EXAMPLES), tuple(rows), {}, {})
        one = SeedResult(0, TrainingRecord(course=(), best_epoch=0), observation)
        return verdict([one], "information").reason

    assert reason(nothing).endswith("mi tau has no value to compare")
    assert reason(alone).endswith("difference 0.000 without an interval, which takes more than one value")


numbers = st.floats(-1, 1)


@given(numbers, st.floats(0, 0.5), st.floats(1, 3), st.floats(0.1, 2))
def test_swapping_better_and_worse_never_leaves_a_side_supported(gain, half, wider, way):
    there, back = (
        row_status(
            sign * gain,
            (sign * gain - wider * half, sign * gain + wider * half),
            (sign * gain - half, sign * gain + half),
            way,
        )
        for sign in (1, -1)
    )
    assert not there == back == "supported"
    assert (there == "chance") == (back == "chance")
    if there == "supported":
        assert back == "contradicted"


@pytest.mark.parametrize(
    "bad", [(np.nan, (0, 1), 1), (0.5, (np.nan, np.nan), 1), (0.5, (0.4, 0.6), 0), (0, (0, 0), 1)]
)
def test_without_an_interval_or_anything_to_see_nothing_is_told(bad):
    gain, interval, way = bad
    assert row_status(gain, interval, interval, way) == "unknown"


def test_an_answer_has_the_question_the_grade_and_the_number_that_decided():
    found = results(
        ("kendall", "agreement", TAU, "attention", -0.5),
        ("comprehensiveness", "erasure", COMPREHENSIVENESS, "attention", 0.4),
    )
    verdicts = judge(found, ["attention"], own="attention", random="random", inversions={})
    heading = next(v for v in verdicts if v.family is None)
    assert question(heading) == "How faithful is attention?"
    assert grade(heading) == "Supported"
    says = evidence(heading, verdicts)  # the number stands behind the clause that it decided
    erasure, agreement = heading.clauses
    assert says.startswith(f"{erasure.text} (comprehensiveness aopc 0.")
    assert says.endswith(f"]); but {agreement.text}")


def test_a_clause_for_chance_does_not_deny_a_small_difference():
    """At chance a difference may be significant, only too small: no clause says that there is none."""
    for clauses in CLAUSES.values():
        assert "no more" not in clauses["chance"]
        assert "not " not in clauses["chance"]
