"""Whole evaluations: repeatable, stored, invariant, honest about what is undefined."""

import dataclasses
import json

import numpy as np
import pytest
import torch
from trainers import evaluate_with, never

import attnx
from attnx.errors import AttnxWarning
from attnx.host.catalog import Catalog
from attnx.plugin import Example, Measure, Metric, Source, Task, TaskData
from attnx.progress import Progress
from attnx.request.objects import Given
from attnx.request.resolve import resolve
from attnx.request.spec import RunSpec
from attnx.run.evaluation import carry_out
from attnx.store.runs import Runs
from attnx.store.weights import Weights
from attnx.testing import ToyModel, toy_data

SMALL = {"task": "sdc-error-mode-1:train=40,dev=40,test=60", "training": {"epochs": 5}, "progress": False}
LIGHT = {**SMALL, "metrics": ["focus", "nnz", "entropy"]}  # without the tests of a plain run


def without_timings(report):
    return json.loads(report.without_times().to_json())


def test_same_spec_and_seed_give_the_same_report(tmp_path):
    reports = [attnx.evaluate(**LIGHT, seeds=[0, 1], out=tmp_path / str(i), fresh=True) for i in range(2)]
    assert without_timings(reports[0]) == without_timings(reports[1])


def test_retrained_weights_give_the_same_report(tmp_path, monkeypatch):
    reports = []
    for i in range(2):
        monkeypatch.setenv("ATTNX_HOME", str(tmp_path / str(i)))
        reports.append(attnx.evaluate(**LIGHT))
    assert without_timings(reports[0]) == without_timings(reports[1])


def test_other_seed_gives_another_model(tmp_path):
    a, b = (attnx.evaluate(**LIGHT, seeds=[seed], out=tmp_path) for seed in (0, 1))
    assert a.provenance.weights[0] != b.provenance.weights[1]


def test_same_run_again_is_read_and_not_computed(tmp_path, monkeypatch):
    first = attnx.evaluate(**LIGHT, out=tmp_path)
    monkeypatch.setattr("attnx.run.evaluation.compute_report", lambda *_: pytest.fail("computed again"))
    assert attnx.evaluate(**LIGHT, out=tmp_path) == first


def test_weights_are_reused_when_only_a_metric_is_added(tmp_path):
    attnx.evaluate(**SMALL, metrics=["nnz"], out=tmp_path)
    report = evaluate_with(never, **SMALL, metrics=["nnz", "entropy"], out=tmp_path)
    assert {summary.metric for summary in report.summaries} == {"nnz", "entropy"}


@pytest.mark.parametrize("damage", ["cut short", "of another model", "no record of training"])
def test_damaged_weights_are_trained_again_and_overwritten(damage, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path))
    first = attnx.evaluate(**SMALL, metrics=["nnz"])
    (folder,) = (tmp_path / "weights").glob("[!.]*")
    if damage == "cut short":
        file = folder / "weights.safetensors"
        file.write_bytes(file.read_bytes()[:-5])
    else:
        state, record = Weights().find(folder.name)
        other = {"other": torch.zeros(1)} if damage == "of another model" else state
        Weights().write(folder.name, other, record if damage == "of another model" else {})
    with pytest.warns(AttnxWarning, match=f"The weights in '{folder}' cannot be read"):
        again = attnx.evaluate(**SMALL, metrics=["nnz"], fresh=True)
    assert without_timings(again) == without_timings(first)
    evaluate_with(never, **SMALL, metrics=["nnz"], fresh=True)


def test_batch_size_of_the_evaluation_changes_no_score(tmp_path, monkeypatch):
    asked = {
        "task": "sdc-text:train=60,dev=30,test=14",
        "training": {"epochs": 2},
        "metrics": [
            "kendall",
            "comprehensiveness",
            "decision-flip",
            "permutation",
            "plausibility",
            "entropy",
        ],
        "progress": False,
    }
    whole = attnx.evaluate(**asked)
    monkeypatch.setattr("attnx.run.measuring.splits.batches.__defaults__", (7,))
    single = attnx.evaluate(**asked, fresh=True, out=tmp_path)
    for a, b in zip(whole.summaries, single.summaries, strict=True):
        near = 1e-2 if a.family == "agreement" else 1e-5  # ranks turn where scores differ by rounding alone
        assert a.mean == pytest.approx(b.mean, abs=near, nan_ok=True)
        assert a.baselines == pytest.approx(b.baselines, abs=near)


def test_interrupt_leaves_nothing_half_written(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "home"))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("attnx.run.training.loop._optimizer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        attnx.evaluate(**LIGHT, out=tmp_path / "runs")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


class ToyTask(Task):
    """The toy data as a task."""

    provides = ("words", "rationale")

    def load(self, source: Source) -> TaskData:
        return toy_data()

    def sample(self) -> TaskData:
        return toy_data()


class Sometimes(Metric):
    """1 for examples of at least three units, undefined for shorter ones."""

    family = "shape"
    measures = (Measure("sometimes", "up", (0, 1)),)

    def __call__(self, evidence):
        count = evidence.trace.batch.mask.sum(1).float()
        return torch.where(count >= 3, 1.0, torch.nan)


def test_objects_need_no_registration_and_are_stored_only_where_asked(home):
    asked = {"metrics": [Sometimes(), "nnz"], "training": {"epochs": 2}, "progress": False}
    report = attnx.evaluate(ToyTask(), ToyModel, **asked)
    assert report.spec.task.name == "ToyTask"
    assert report.select("sometimes").mean == 1.0
    assert not list(home.glob("runs/*"))
    asked_for = attnx.evaluate(ToyTask(), ToyModel, **asked, out=home / "asked")
    assert [folder.name for folder in (home / "asked").iterdir()] == [asked_for.fingerprint]


def test_ready_model_is_measured_as_it_is():
    model = ToyModel()
    before = model.head.clone()
    report = attnx.evaluate(ToyTask(), model, metrics=["nnz"], progress=False)
    assert torch.equal(model.head, before)
    assert report.quality[0].epochs == 0
    batch = model.encode(toy_data().test)
    nnz = (model.run(batch, model.embed(batch)).attention > 0.01).sum(1).float().mean()
    assert report.select("nnz").mean == pytest.approx(float(nnz.detach()))


def test_object_of_the_wrong_shape_is_refused_with_what_it_lacks():
    class NotAMetric:
        needs = ()

    with pytest.raises(attnx.UsageError, match="'NotAMetric' is not a metric: it has no 'family'"):
        attnx.evaluate(ToyTask(), ToyModel(), metrics=[NotAMetric()], progress=False)


def test_undefined_examples_are_counted_and_not_averaged():
    summary = attnx.evaluate(ToyTask(), ToyModel(), metrics=[Sometimes()], progress=False).select("sometimes")
    assert (summary.n, summary.undefined, summary.mean) == (5, 1, 1.0)


def test_groups_partition_the_examples_by_predicted_label():
    report = attnx.evaluate(ToyTask(), ToyModel(), metrics=["nnz"], progress=False)
    rows = {s.group: s for s in report.summaries}
    assert set(rows) == {"all", "predicted=no", "predicted=yes"}
    assert rows["predicted=no"].n + rows["predicted=yes"].n == rows["all"].n == 6
    total = sum((rows[f"predicted={g}"].mean or 0) * rows[f"predicted={g}"].n for g in ("no", "yes"))
    assert total / 6 == pytest.approx(rows["all"].mean)


def test_interval_holds_the_mean_and_baselines_are_there():
    for summary in attnx.evaluate(**LIGHT, seeds=[0, 1, 2]).summaries:
        if summary.mean is not None:
            assert summary.low - 1e-12 <= summary.mean <= summary.high + 1e-12
        assert set(summary.baselines) == {"random", "uniform"}
        assert len(summary.seeds) == 3


def test_limit_caps_every_split():
    report = attnx.evaluate(**{**LIGHT, "limit": 20})
    assert [report.provenance.data[split] for split in ("train", "dev", "test")] == ["20", "20", "20"]
    report = attnx.evaluate(**{**LIGHT, "limit": "train=30,test=10"})
    assert [report.provenance.data[split] for split in ("train", "dev", "test")] == ["30", "40", "10"]


def test_one_label_in_train_is_refused():
    class OneLabel(ToyTask):
        def load(self, source):
            data = toy_data()
            return dataclasses.replace(data, train=(data.train[0],))

    with pytest.raises(
        attnx.DataError, match=r"All training examples have the label 'no'; .* Check the label column\.$"
    ):
        attnx.evaluate(OneLabel(), ToyModel, progress=False)
    with pytest.raises(attnx.DataError, match=r"Check the label column, or raise --limit\.$"):
        attnx.evaluate(ToyTask(), ToyModel, limit="train=1", progress=False)


def test_an_empty_split_is_refused_with_what_to_check():
    class Empty(ToyTask):
        def load(self, source):
            return dataclasses.replace(toy_data(), dev=())

    with pytest.raises(attnx.DataError, match=r"The dev split has no examples\. Check the task's files"):
        attnx.evaluate(Empty(), ToyModel, progress=False)


def test_course_of_training_is_in_the_report():
    report = attnx.evaluate(**SMALL, metrics=["focus"])
    course = {curve.name: curve for curve in report.curves if curve.kind == "training"}
    four = [course[name] for name in ("ftpt", "ffpt", "ftpf", "ffpf")]
    assert all(curve.x == (0, 1, 2, 3, 4, 5) for curve in four)
    assert np.sum([curve.y for curve in four], axis=0) == pytest.approx(np.ones(6))


def test_report_survives_json_and_makes_a_frame(tmp_path):
    report = attnx.evaluate(**LIGHT)
    assert attnx.Report.from_json(report.to_json()) == report
    frame = report.to_frame()
    assert len(frame) == len(report.summaries)
    assert {"mean", "low", "high", "baseline_random", "baseline_uniform"} <= set(frame.columns)
    assert "| focus ft ↑ | attention |" in report.to_markdown()


def test_a_run_without_baseline_plugins_has_no_baselines(tmp_path):
    class Weights(attnx.plugin.ImportanceMethod):
        def __call__(self, model, trace, target, random):
            return trace.attention

    spec = RunSpec(
        task="sdc-error-mode-1:train=40,dev=40,test=60", explanations=("Weights",), training={"epochs": 1}
    )
    plan = resolve(
        spec, Catalog.installed(without=["baselines"]), {("importance", "Weights"): Given(Weights())}
    )
    report = carry_out(plan, runs=Runs(tmp_path), progress=Progress("off")).report
    assert all(summary.baselines == {} for summary in report.summaries)


def test_explanation_may_itself_be_a_baseline():
    report = attnx.evaluate(**SMALL, metrics=["focus"], explanations=["attention", "uniform"])
    assert report.select("ft", explanation="uniform").mean == pytest.approx(1 / 9)
    only = attnx.evaluate(**SMALL, metrics=["focus"], explanations=["uniform"])
    assert only.select("ft", explanation="uniform").mean == pytest.approx(1 / 9)


class Confidence(Metric):
    """The probability of the prediction: nothing to do with any explanation."""

    family = "shape"
    measures = (Measure("confidence", "none", (0, 1)),)
    reads_explanation = False
    batches = 0

    def __call__(self, evidence):
        type(self).batches += 1
        return evidence.trace.probabilities.amax(1)


def test_metric_that_reads_no_explanation_is_measured_once():
    report = attnx.evaluate(
        **SMALL, metrics=[Confidence(), "entropy"], explanations=["attention", "random", "uniform"]
    )
    assert Confidence.batches == 1
    rows = [s for s in report.summaries if s.metric == "Confidence" and s.group == "all"]
    assert [(row.explanation, row.n, row.baselines) for row in rows] == [(None, 60, {})]
    assert report.select("confidence") == report.select("confidence", explanation="random") == rows[0]
    assert "Confidence" in report.to_markdown()


def test_a_test_of_attention_stands_beside_random_and_uniform_attention():
    report = attnx.evaluate(**SMALL, metrics=["permutation"])
    rows = [s for s in report.summaries if s.group == "all"]
    assert {row.explanation for row in rows} == {None}
    change, weight = rows
    assert change.baselines["uniform"] == pytest.approx(0, abs=1e-6)  # no permutation changes it
    assert change.baselines["random"] > 0
    assert weight.baselines["uniform"] == pytest.approx(1 / 9)  # of 9 patches
    assert weight.baselines["random"] == pytest.approx(sum(1 / k for k in range(1, 10)) / 9, rel=0.1)


def test_ids_not_positions_decide_random_scores():
    def example(i):
        return Example(f"e{i}", ("one", "two", "three"), i % 2)

    examples = tuple(example(i) for i in range(6))

    class Ordered(ToyTask):
        def __init__(self, order):
            self.order = order

        def load(self, source):
            return dataclasses.replace(toy_data(), test=tuple(examples[i] for i in self.order))

    means = [
        attnx.evaluate(
            Ordered(order), ToyModel(), explanations=["random"], metrics=["entropy"], progress=False
        )
        .select("entropy", explanation="random")
        .mean
        for order in (range(6), range(5, -1, -1))
    ]
    assert means[0] == pytest.approx(means[1])


def test_a_ready_model_has_its_own_projection_and_takes_no_other():
    report = attnx.evaluate(ToyTask(), ToyModel(), metrics=["nnz"], progress=False)
    assert report.labels["projection"] == type(ToyModel().projection).__name__
    for given in ({"projection": "sparsemax"}, {"training": {"epochs": 3}}):
        with pytest.raises(attnx.UsageError, match=f"is not trained again. Remove the {next(iter(given))}"):
            attnx.evaluate(ToyTask(), ToyModel(), metrics=["nnz"], progress=False, **given)


def test_a_reference_that_no_metric_compares_with_is_refused():
    with pytest.raises(attnx.UsageError, match="The reference 'gradient' would not be used"):
        attnx.evaluate(**SMALL, metrics=["nnz"], references=["gradient"])


def test_a_model_that_training_did_not_improve_is_measured_with_a_warning():
    still = {"epochs": 2, "learning_rate": 1e-30, "weight_decay": 0}
    report = attnx.evaluate(ToyTask(), ToyModel, metrics=["nnz"], training=still, progress=False)
    assert report.quality[0].best_epoch == 0
    (caution,) = [warning for warning in report.warnings if warning.kind == "untrained"]
    assert caution.about == ("0",)
    assert caution.text in report.to_markdown()
    assert not any(warning.kind == "untrained" for warning in attnx.evaluate(**LIGHT).warnings)
