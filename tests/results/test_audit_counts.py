"""The audit's arithmetic, held to metrics whose faults are made on purpose."""

import numpy as np
import pytest

from attnx.results.audit import AuditReport, Case, audit_rows
from attnx.results.observations import Measurement
from attnx.types import Measure

LADDER = (("right",), ("partly",), ("random", "uniform"), ("wrong",))
COURSE = ("right", "partly", "half", "gone")
TRUTH = {"right": 1.0, "partly": 0.8, "half": 0.5, "gone": 0.3, "random": 0.3, "uniform": 0.3, "wrong": 0.0}
SEEDS, EXAMPLES = 3, 60


def seen(
    name,
    score,
    *,
    family="erasure",
    measures=None,
    reference=None,
    whole_split=False,
    of_model=False,
    honest=0.9,
):
    """What a metric says that scores explanations by `score` of their truth, with a little noise."""
    measures = measures or (Measure("value", "up", (-2, 2)),)
    found = {"honest": [], "deceived": [], "randomised": []}
    for kind, own in (("honest", honest), ("deceived", 0.1), ("randomised", 0.4)):
        for seed in range(SEEDS):
            rng = np.random.default_rng(seed)
            truth = {"attention": own} if kind != "honest" or of_model else {**TRUTH, "attention": own}
            rows = {}
            for explanation, worth in truth.items():
                shape = (1 if whole_split else EXAMPLES, len(measures))
                values = score(explanation, worth) + 0.01 * rng.normal(size=shape)
                about = None if of_model else explanation
                m = Measurement(name, family, "units", measures, about, reference, whole_split, values, ())
                rows[m.key] = m
            found[kind].append(rows)
    return found


def audited(*metrics):
    joined = {
        kind: [{k: m for found in metrics for k, m in found[kind][seed].items()} for seed in range(SEEDS)]
        for kind in ("honest", "deceived", "randomised")
    }
    labels = {m.metric for found in joined["honest"] for m in found.values()}
    names = {label: label.split(":")[0] for label in labels}
    return audit_rows([Case(joined)], LADDER, COURSE, "attention", names)


PAIRS = 1 + 2 + 1 + 2 + 1 + 2  # of the ladder


def test_a_metric_that_follows_the_truth_inverts_nothing():
    (row,), silent = audited(seen("good", lambda _, worth: worth))
    assert (row.inversions, row.comparisons, silent) == (0, SEEDS * (PAIRS + 1), ())
    assert row.correct == row.comparisons
    assert (row.degradation, row.monotone, row.courses) == (-1, SEEDS, SEEDS)
    assert (row.deceived.noticed, row.deceived.of, row.randomised.noticed) == (SEEDS, SEEDS, SEEDS)


def test_its_negation_inverts_everything_and_an_arrow_down_puts_it_right():
    (row,), _ = audited(seen("bad", lambda _, worth: -worth))
    assert row.inversions == row.comparisons == SEEDS * (PAIRS + 1)
    assert (row.degradation, row.monotone, row.deceived.fooled) == (1, 0, SEEDS)
    down = (Measure("value", "down", (-2, 2)),)
    (row,), _ = audited(seen("good", lambda _, worth: -worth, measures=down))
    assert row.inversions == 0


def test_a_metric_that_sees_nothing_tells_nothing():
    (row,), _ = audited(seen("blind", lambda *_: 0.0))
    assert row.correct < 0.15 * row.comparisons  # 1 in 20 by chance
    assert row.inversions < 0.15 * row.comparisons


def test_what_is_undefined_is_not_compared():
    (row,), _ = audited(seen("partial", lambda name, worth: np.nan if name == "uniform" else worth))
    assert (row.comparisons, row.inversions) == (SEEDS * (PAIRS - 3 + 1), 0)


def test_a_metric_of_the_model_is_audited_by_the_deceived_one_alone():
    (row,), _ = audited(seen("model", lambda _, worth: worth, of_model=True))
    assert (row.reads, row.comparisons, row.inversions) == ("models", SEEDS, 0)
    assert row.degradation is None
    (row,), _ = audited(seen("model", lambda _, worth: -worth, of_model=True))
    assert row.inversions == SEEDS


def test_of_what_a_hidden_state_speaks_is_no_claim_about_attention():
    (row,), _ = audited(seen("context", lambda _, worth: -worth, family="context", of_model=True))
    assert (row.comparisons, row.inversions, row.deceived.fooled) == (0, 0, SEEDS)


def test_a_metric_of_a_split_is_compared_over_trainings():
    (row,), _ = audited(seen("split", lambda _, worth: worth, whole_split=True))
    assert (row.comparisons, row.inversions) == (PAIRS + 1, 0)


def test_measures_without_a_better_side_prefer_nothing():
    none = (Measure("size", "none", (0, 1)),)
    rows, silent = audited(seen("shape", lambda _, worth: worth, measures=none))
    assert (rows, silent) == ((), ("shape",))
    several = (Measure("size", "none", (0, 1)), Measure("a", "up", (0, 1)), Measure("b", "down", (0, 1)))
    rows, silent = audited(seen("mixed", lambda _, worth: worth, measures=several))
    assert [(row.measure, row.headline, row.inversions > 0) for row in rows] == [
        ("a", True, False),
        ("b", False, True),
    ]
    assert silent == ()


def test_an_explanation_is_not_compared_by_its_agreement_with_itself():
    (row,), _ = audited(seen("tau", lambda _, worth: worth, reference="wrong"))
    assert row.comparisons == SEEDS * (PAIRS - 4 + 1)


@pytest.mark.parametrize("reference", [None, "loo"])
def test_the_registry_keeps_a_metric_under_its_name_with_all_references_together(reference):
    rows = [
        row
        for name in (reference, "gradient")
        for row in audited(seen("kendall:k=3", lambda _, worth: worth, reference=name))[0]
    ]
    report = AuditReport(
        tasks=(), models=(), seeds=(0,), examples=60, ladder=LADDER, course=COURSE, verification=(),
        rows=tuple(rows), silent=(), environment={}, seconds=0.0,
    )  # fmt: skip
    total = 2 * SEEDS * (PAIRS + 1)
    assert report.registry() == f"audit:\n  kendall: {{inversions: 0, comparisons: {total}}}\n"
