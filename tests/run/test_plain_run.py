"""A run that names no metric: the tests that matter, all of them or none by name, and a stated sample."""

import pytest

import attnx
from attnx.plugin import UsageError

TASK = "sdc-text:train=60,dev=20,test=40"
FAITHFUL = {
    "comprehensiveness",
    "sufficiency",
    "kendall",
    "decision-flip",
    "permutation",
    "adversarial-attention",
}


def run(**asked):
    return attnx.evaluate(TASK, training={"epochs": 3}, progress=False, **asked)


@pytest.fixture(scope="module")
def plain():
    return run()


def test_a_plain_run_tests_faithfulness_and_what_the_task_knows(plain):
    metrics = {summary.metric for summary in plain.summaries}
    assert metrics >= FAITHFUL | {"faithfulness", "mass", "plausibility", "focus", "contextualisation"}
    references = {
        s.reference for s in plain.summaries if s.metric == "kendall" and s.explanation == "attention"
    }
    assert references == {"gradient", "loo"}
    families = {found.family for found in plain.evidence}
    assert families >= {"erasure", "intervention", "agreement", "ground-truth"}
    assert {v.heading for v in plain.verdicts} == {"faithfulness", "interpretability"}
    methods = {cost.method for cost in plain.costs}
    assert methods >= {"attention", "gradient", "loo", "input-x-gradient", "attention-x-gradient"}
    assert plain.sample is None


def test_the_references_are_a_yardstick_for_agreement(plain):
    (row,) = [s for s in plain.summaries if s.yardstick and s.measure == "tau" and s.group == "all"]
    assert {row.explanation, row.reference} == {"gradient", "loo"}
    assert row.explanation not in {v.explanation for v in plain.verdicts}  # it is not what was asked about


def test_none_leaves_the_quality_and_all_adds_the_rest():
    assert run(metrics="none").summaries == ()
    assert run(metrics="none").quality
    more = {s.metric for s in run(metrics="all", limit="test=12").summaries}
    assert more > FAITHFUL | {"delta-js", "flip-fraction", "spearman"}


def test_none_stands_alone():
    with pytest.raises(UsageError, match="none excludes all other metrics"):
        run(metrics=["none", "kendall"])


def test_expensive_metrics_are_measured_on_a_stated_sample_that_is_the_same_for_everything():
    report = run(sample=15, seeds=[0, 1])
    assert report.sample is not None
    assert (report.sample.examples, report.sample.of) == (15, 40)
    counts = {s.metric: s.n + s.undefined for s in report.summaries if s.group == "all"}
    assert {name for name, n in counts.items() if n == 30} == set(report.sample.metrics)
    assert counts["mass"] == 80
    assert "comprehensiveness" in report.sample.metrics
    rows = [row for found in report.evidence for row in found.rows if row.metric == "comprehensiveness"]
    assert {row.n for row in rows} == {30}
    assert run(sample=15, seeds=[0, 1]).sample == report.sample


def test_a_sample_as_large_as_the_split_is_no_sample():
    assert run(sample=40, metrics="comprehensiveness").sample is None
    assert run(sample="all", metrics="comprehensiveness").sample is None
