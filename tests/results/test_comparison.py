"""Runs are compared on the same examples, and what is called a difference is one."""

import dataclasses
import json

import numpy as np
import pytest
from scipy import stats

import attnx
from attnx.results.caution import Caution
from attnx.results.paired_differences import compare_reports
from attnx.results.statistics import LEAST, holm, mean_interval, p_values

SMALL = {
    "training": {"epochs": 4, "learning_rate": 0.03},
    "metrics": ["kendall", "nnz", "mi-kendall:clusters=4,repeats=1,permutations=2"],
    "references": ["loo"],
}
TASK = "planted-pronouns:train=120,dev=40,test="


def evaluate(**asked):
    return attnx.evaluate(**({"model": "bilstm-add:embedding=8,hidden=8", "progress": False} | SMALL | asked))


@pytest.fixture(scope="module")
def soft():
    return evaluate(task=f"{TASK}40", seeds="0-2")


@pytest.fixture(scope="module")
def sparse():
    return evaluate(task=f"{TASK}40", projection="sparsemax", seeds="1-3", keep="values")


def pairs(report, other, column, seeds):
    """By hand: seed by seed and id by id, the differences of what both have."""
    return np.array(
        [
            [
                seen[1].measures[column] - seen[0].measures[column]
                if None not in [s.measures[column] for s in seen]
                else np.nan
                for example in report.examples()
                for seen in [
                    [
                        next(s for s in e.seen if s.seed == seed)
                        for e in (example, other.examples().find(example.id))
                    ]
                ]
            ]
            for seed in seeds
        ]
    )


def test_differences_are_paired_by_id_and_seed(soft, sparse):
    found = attnx.compare(soft, sparse)
    assert (found.seeds, found.examples) == ((1, 2), 40)
    column = next(c for c in soft.examples().columns if c.measure == "tau")
    values = pairs(soft, sparse, column, (1, 2))
    row = found.select("tau", metric="kendall")
    assert row.difference == pytest.approx(np.nanmean(np.nanmean(values, axis=1)))
    assert row.n == np.isfinite(values).sum()
    assert row.difference == pytest.approx(row.other - row.first)
    wanted = mean_interval(values[:, :, None])
    assert (row.low, row.high) == pytest.approx((wanted.low[0], wanted.high[0]))
    accuracy = found.select("accuracy")
    by_seed = [{q.seed: q.accuracy for q in report.quality} for report in (soft, sparse)]
    assert accuracy.other == pytest.approx((by_seed[1][1] + by_seed[1][2]) / 2)
    assert accuracy.first == pytest.approx((by_seed[0][1] + by_seed[0][2]) / 2)


def test_what_is_measured_of_a_split_as_a_whole_is_compared_over_seeds(soft, sparse):
    found = attnx.compare(soft, sparse)
    row = next(row for row in found.rows if row.whole_split and row.low != row.high)
    at = {"metric": row.metric, "explanation": row.explanation, "reference": row.reference}
    a, b = (report.select(row.measure, **at).seeds for report in (soft, sparse))
    difference = np.array(b[:2]) - np.array(a[1:])  # seeds 1 and 2 of 0-2 and of 1-3
    low, high = stats.t.interval(0.95, 1, difference.mean(), stats.sem(difference))
    assert (row.difference, row.low, row.high) == pytest.approx((difference.mean(), low, high))


def test_the_p_values_of_one_seed_and_of_one_example_are_students():
    rng = np.random.default_rng(0)
    values = rng.normal(0.2, 1, (1, 30, 5))
    wanted = stats.ttest_1samp(values[0], 0).pvalue
    assert p_values(values) == pytest.approx(wanted, rel=1e-6)
    assert p_values(values.transpose(1, 0, 2)) == pytest.approx(wanted, rel=1e-6)


def test_a_p_value_is_where_the_interval_touches_nothing():
    rng = np.random.default_rng(1)
    values = rng.normal(0.3, 1, (4, 50, 1)) + rng.normal(0, 0.2, (4, 1, 1))
    (p,) = p_values(values)
    touching = mean_interval(values, level=1 - p)
    assert min(abs(touching.low[0]), abs(touching.high[0])) == pytest.approx(0, abs=1e-6)


def test_p_values_of_nothing_and_of_certainty():
    values = np.zeros((2, 3, 4))
    values[:, :, 1] = 0.5
    values[:, :, 2] = np.nan
    values[:, :, 3] = np.nan
    values[0, 0, 3] = 1.0  # a single value has no interval
    assert p_values(values)[:2] == pytest.approx([1.0, LEAST])
    assert np.isnan(p_values(values)[2:]).all()


def test_holm_goes_step_by_step():
    rng = np.random.default_rng(2)
    for _ in range(50):
        p = rng.uniform(0, 0.06, 6)
        left, rejected = dict(enumerate(p)), set()
        while left:  # as Holm wrote it: the smallest is held to .05 over as many as are left
            smallest = min(left, key=left.get)
            if left.pop(smallest) > 0.05 / (len(left) + 1):
                break
            rejected.add(smallest)
        assert set(np.flatnonzero(holm(p) <= 0.05)) == rejected
    assert holm(np.array([0.01, np.nan, 0.04])) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)


def moved(report, by):
    """A report of which the first measure of every example, kendall's tau, is moved by so much."""
    kept = report.examples()
    measures = kept.measures.copy()
    measures[:, :, 0] += by
    return report.with_examples(dataclasses.replace(kept, measures=measures))


def test_rows_of_all_runs_are_corrected_together(soft):
    by = np.random.default_rng(3).normal(0.3, 0.3, soft.examples().measures.shape[:2])
    noisy = moved(soft, by)
    two, three = attnx.compare(soft, noisy), attnx.compare(soft, noisy, soft)
    assert {row.outcome for row in three.rows if row.run == "C"} <= {"the same", "undefined"}
    tests = [sum(row.p is not None for row in found.rows) for found in (two, three)]
    (alone,) = p_values(by[:, np.isfinite(soft.examples().measures[0, :, 0]), None])
    for found, count in zip((two, three), tests, strict=True):  # all others are the same, with p = 1
        assert found.select("tau", metric="kendall", run="B").p == pytest.approx(min(1, alone * count))
    assert tests[1] == 2 * tests[0]
    assert LEAST < alone < 1 / tests[1]


@pytest.mark.parametrize(("by", "said"), [(0.5, "better"), (-0.5, "worse")])
def test_a_better_side_decides_between_better_and_worse(soft, by, said):
    found = compare_reports([soft, moved(soft, by)])
    row = found.select("tau", metric="kendall")
    assert (row.outcome, row.difference) == (said, pytest.approx(by))
    assert found.significant == (row,)


def test_how_references_agree_with_each_other_is_no_measure_of_the_split_as_a_whole(cli):
    report = evaluate(task=f"{TASK}40", metrics="kendall", references=["gradient", "loo"])
    assert any(summary.yardstick for summary in report.summaries)
    found = compare_reports([report, moved(report, 0.5)])
    assert not any(row.whole_split for row in found.rows)
    assert found.tested == sum(row.outcome != "undefined" for row in found.rows)


def test_the_explanations_of_one_run_are_compared_as_runs_are(cli):
    names = ["attention", "gradient", "loo"]
    metrics = ["comprehensiveness", "sufficiency"]
    report = evaluate(task=f"{TASK}40", metrics=metrics, references=[], explanations=names)
    found = attnx.compare(report)
    assert [run.labels["explanation"] for run in found.runs] == names
    assert not any(row.metric == "accuracy" for row in found.rows)  # of the model, which is one
    examples = report.examples()
    at = {(c.metric, c.measure, c.explanation): k for k, c in enumerate(examples.columns)}
    alone = []
    for row in found.rows:
        values = [
            examples.measures[0, :, at[row.metric, row.measure, name]]
            for name in ("attention", names["ABC".index(row.run)])
        ]
        wanted = stats.ttest_rel(values[1], values[0], nan_policy="omit")
        assert row.difference == pytest.approx(np.nanmean(values[1] - values[0]))
        assert (row.low, row.high) == pytest.approx(tuple(wanted.confidence_interval()))
        alone.append(wanted.pvalue)
    assert [row.p for row in found.rows] == pytest.approx(list(holm(np.array(alone))), rel=1e-4)
    code, out, _ = cli("compare", report.fingerprint)
    assert code == 0
    assert "B vs. A" in out


def test_better_explanations_of_a_useless_model_are_not_praised_in_silence(soft):
    warning = Caution(kind="not-better-than-constant", text="whatever the words are")
    other = Caution(kind="one-seed", text="something else")
    useless = soft.model_copy(update={"warnings": (warning, other), "fingerprint": "other"})
    found = compare_reports([soft, useless.with_examples(soft.examples())])
    assert "B: whatever the words are" in found.notes
    assert not any("something else" in note for note in found.notes)
    assert not any(note.startswith("B: ") for note in compare_reports([soft, moved(soft, 0.5)]).notes)


def test_runs_that_differ_in_training_alone_are_distinguished(soft):
    spec = soft.spec.model_copy(update={"training": soft.spec.training | {"epochs": 9}})
    longer = soft.model_copy(update={"spec": spec}).with_examples(soft.examples())
    first, second = compare_reports([soft, longer]).runs
    assert first.title == f"{' · '.join(soft.labels.values())} · epochs=4"
    assert second.title.endswith(" · epochs=9")


def test_only_what_is_common_is_compared_and_that_is_said(soft, sparse):
    notes = attnx.compare(soft, sparse).notes
    assert "only the seeds that all runs share are compared: 1,2 (A has 0,1,2, B has 1,2,3)" in notes
    assert any("by id and label" in note for note in notes)  # one kept values alone
    half = evaluate(task=f"{TASK}40", limit="test=25", seeds="0", metrics="kendall")
    found = attnx.compare(soft, half)
    assert found.examples == 25
    assert not any(row.whole_split for row in found.rows)
    assert found.notes[0] == "only the 25 examples that all runs share are compared (A has 40, B has 25)"
    assert any(note.startswith("only one seed") for note in found.notes)
    assert any(note.startswith("B does not have: nnz") for note in found.notes)


def test_examples_of_the_same_id_and_another_text_are_not_the_same(soft):
    kept = soft.examples()
    units = (("another", "text"), *kept.units[1:])
    other = soft.with_examples(dataclasses.replace(kept, units=units))
    found = compare_reports([soft, other])
    assert found.examples == len(kept) - 1
    assert "1 example has the same id but another text or label: not compared" in found.notes


def test_what_cannot_be_compared_is_refused_in_one_line(soft):
    other = evaluate(task="sdc-text:train=60,dev=30,test=20", metrics="kendall")
    with pytest.raises(attnx.UsageError, match=r"no example in common .* Compare runs on one task\."):
        attnx.compare(soft, other)
    with pytest.raises(attnx.UsageError, match=r"no seed in common \(0,1,2 and 7\)"):
        attnx.compare(soft, evaluate(task=f"{TASK}40", seeds="7", metrics="kendall"))
    with pytest.raises(attnx.UsageError, match="has only one explanation: name a second run"):
        attnx.compare(soft)
    with pytest.raises(attnx.UsageError, match="No run is given"):
        attnx.compare()
    with pytest.raises(attnx.UsageError, match="stored no examples"):
        attnx.compare(soft, soft.with_examples(None))
    with pytest.raises(attnx.UsageError, match="is not a run"):
        attnx.compare(soft, 3)


def test_the_command_prints_a_table_json_and_a_page(soft, sparse, cli, tmp_path, monkeypatch):
    names = [soft.fingerprint, sparse.fingerprint[:8]]
    page = tmp_path / "page.html"
    code, out, err = cli("compare", *names, "--html", str(page))
    assert (code, err) == (0, f"page: {page}\n")
    assert "differences are significant" in out
    assert max(map(len, out.splitlines())) <= 100
    text = page.read_text(encoding="utf-8")
    assert "softmax and sparsemax" in text
    assert "http" not in text.replace("http-equiv", "")
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = cli("compare", *names)
    assert max(map(len, out.splitlines())) <= 60
    code, out, _ = cli("compare", *names, "--json")
    assert json.loads(out)["rows"] == json.loads(attnx.compare(*names).to_json())["rows"]
    code, _, err = cli("compare", names[0], "no-such-run")
    assert (code, len(err.splitlines())) == (2, 1)


def test_names_in_a_page_are_shown_as_text(soft):
    labels = {**soft.labels, "task": "<script>alert(1)</script>"}
    hostile = soft.model_copy(update={"labels": labels}).with_examples(soft.examples())
    text = compare_reports([hostile, hostile]).to_html()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
