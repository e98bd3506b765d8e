"""Evidence by family: what is said about metrics compared with random scores."""

from __future__ import annotations

import numpy as np
import pytest

from attnx.results.judgement.families import evidence_by_family, row_status
from attnx.results.judgement.family_wording import DISAGREE, UNTRUSTED, row_in_words
from attnx.results.judgement.predicates import family_holds
from attnx.results.judgement.records import FamilyEvidence
from attnx.results.observations import Measurement, Observation, SeedResult, TrainingRecord
from attnx.types import Measure

EXAMPLES = 200
AOPC = Measure("aopc", "up", (-1, 1))
TAU = Measure("tau", "up", (-1, 1))


def results(*effects, noise=0.1, seeds=3):
    """Seeds in which (metric, family, measure, reference) is that much better than random scores."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        rows = []
        for metric, family, measure, reference, effect in effects:
            random = rng.normal(0, noise, EXAMPLES)
            values = random + effect + rng.normal(0, noise, EXAMPLES)
            for name, of in (("random", random), ("attention", values)):
                rows.append(
                    Measurement(metric, family, "units", (measure,), name, reference, False, of[:, None], ())
                )
        observation = Observation(
            np.eye(2)[np.arange(EXAMPLES) % 2], np.arange(EXAMPLES) % 2, tuple(rows), {}, {}
        )
        found.append(SeedResult(seed, TrainingRecord(course=(), best_epoch=0), observation))
    return found


def family(found, name, explanation="attention", **settings) -> FamilyEvidence:
    given = {"own": "attention", "random": "random", "inversions": {}, **settings}
    (one,) = [e for e in evidence_by_family(found, [explanation], **given) if e.family == name]
    assert family_holds(one)
    return one


@pytest.mark.parametrize(("effect", "status"), [(0.4, "supported"), (-0.2, "contradicted"), (0.0, "chance")])
def test_above_below_and_about_random(effect, status):
    assert family(results(("comprehensiveness", "erasure", AOPC, None, effect)), "erasure").status == status


def test_a_gain_too_small_to_be_worth_naming_is_about_random():
    (row,) = family(results(("comprehensiveness", "erasure", AOPC, None, 0.02), noise=0.02), "erasure").rows
    assert row.low > 0
    assert row.status == "chance"


def test_noise_that_hides_the_answer_is_unknown():
    found = results(("comprehensiveness", "erasure", AOPC, None, 0.1), noise=2.0)
    assert family(found, "erasure").status == "unknown"


def test_down_is_better_where_the_arrow_says_so():
    down = Measure("aopc", "down", (-1, 1), best=-1)
    (row,) = family(results(("sufficiency", "erasure", down, None, -0.3)), "erasure").rows
    assert (row.status, row.difference < 0) == ("supported", True)


def test_rows_that_contradict_each_other_are_unclear():
    found = results(("comprehensiveness", "erasure", AOPC, None, 0.4), ("other", "erasure", AOPC, None, -0.4))
    one = family(found, "erasure")
    assert (one.status, one.clause.text) == ("unknown", DISAGREE)


def test_only_references_that_bear_it_out_are_named():
    found = results(("kendall", "agreement", TAU, "gradient", 0.4), ("kendall", "agreement", TAU, "loo", 0.0))
    one = family(found, "agreement")
    assert one.clause.references == ("gradient",)
    assert "gradient" in one.clause.text
    assert "loo" not in one.clause.text


def test_a_metric_that_the_audit_does_not_trust_is_shown_and_not_believed():
    found = results(("comprehensiveness", "erasure", AOPC, None, 0.4))
    one = family(found, "erasure", inversions={"comprehensiveness": 0.06})
    assert (one.status, one.clause.text) == ("unknown", UNTRUSTED)
    assert "it often prefers a wrong explanation" in row_in_words(one.rows[0])


def test_random_scores_are_about_random():
    found = results(("comprehensiveness", "erasure", AOPC, None, 0.4))
    given = {"own": "attention", "random": "random", "inversions": {}}
    (one,) = evidence_by_family(found, ["random"], **given)
    assert one.status == "chance"


@pytest.mark.parametrize(
    ("gain", "interval", "way", "status"),
    [
        (0.3, (0.2, 0.4), 1.0, "supported"),
        (-0.3, (-0.4, -0.2), 1.0, "contradicted"),
        (0.01, (-0.01, 0.03), 1.0, "chance"),
        (0.3, (-0.1, 0.7), 1.0, "unknown"),
        (0.0, (0.0, 0.0), 1.0, "unknown"),
        (np.nan, (np.nan, np.nan), 1.0, "unknown"),
        (0.3, (0.2, 0.4), 0.0, "unknown"),
    ],
)
def test_what_a_row_says(gain, interval, way, status):
    assert row_status(gain, interval, way) == status
