"""A finished run taken up again: what it predicts and explains is what it measured."""

import shutil

import pytest
import torch

import attnx
from attnx.errors import AttnxWarning
from attnx.plugin import Measure, Metric, UsageError
from attnx.store.weights import Weights

ASKED = {
    "task": "sdc-text",
    "limit": 40,
    "training": {"epochs": 2},
    "metrics": ["kendall"],
    "seeds": [0, 1],
    "progress": False,
}


@pytest.fixture(scope="module")
def report() -> attnx.Report:
    return attnx.evaluate(**ASKED)


def test_predictions_and_scores_are_those_that_were_kept(report):
    run = attnx.load(report.fingerprint)
    assert run.report == report
    for example in run.examples[:5]:
        for seen in example.seen:
            (prediction,) = run.predict(" ".join(example.units), seed=seen.seed)
            assert prediction.label == seen.predicted
            assert tuple(prediction.probabilities.values()) == pytest.approx(seen.probabilities, abs=1e-6)
            found = run.explain(example=example.id, seed=seen.seed)
            assert (found.predicted, found.label, found.units) == (
                seen.predicted,
                example.label,
                example.units,
            )
            assert found.scores.keys() == seen.scores.keys() == {"attention", "gradient", "loo"}
            for method, scores in seen.scores.items():
                assert found.scores[method] == pytest.approx(scores, abs=1e-3)
                (top,) = [
                    o
                    for o in found.left_out
                    if o.position == found.scores[method].index(max(found.scores[method]))
                ]
                assert method in top.top_of
                assert top.probability == pytest.approx(seen.without_top[method], abs=1e-6)


def test_a_run_is_found_by_the_beginning_of_its_name_or_by_its_folder(report):
    by_name = attnx.load(report.fingerprint[:9])
    assert attnx.load(by_name.folder).report == by_name.report == report
    assert repr(by_name) == f"<Run of {report!r} in {by_name.folder}>"
    assert len(repr(by_name)) < 500
    with pytest.raises(UsageError, match="No run 'nothing'"):
        attnx.load("nothing")


def test_weights_that_are_gone_are_trained_again_with_a_warning(home):
    report = attnx.evaluate(**{**ASKED, "seeds": [0]})
    before = attnx.load(report.fingerprint).predict("a radiant man")
    shutil.rmtree(Weights().root)
    with pytest.warns(AttnxWarning, match="The weights of seed 0 are not stored any more: training again"):
        assert attnx.load(report.fingerprint, progress=False).predict("a radiant man") == before


def test_the_model_of_a_run_with_a_metric_of_ones_own_can_be_used(tmp_path):
    class Own(Metric):
        family = "shape"
        measures = (Measure("own", "none", (0, 1)),)

        def __call__(self, evidence):
            return torch.ones(len(evidence.trace.batch))

    report = attnx.evaluate(**{**ASKED, "metrics": [Own()]}, out=tmp_path)
    assert attnx.load(report.fingerprint, out=tmp_path).predict(["a radiant man", "so gloomy"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "Give a text to explain, or the id"),
        ({"texts": "a", "example": "test-1"}, "and not both"),
        ({"texts": " "}, "The text is empty"),
        ({"texts": "a", "query": "why"}, "leave the query out"),
        ({"texts": "a", "seed": 9}, "has no seed 9; it has 0, 1"),
        ({"texts": "a", "methods": ["gradeint"]}, "Did you mean 'gradient'"),
    ],
)
def test_mistakes_are_told(asked, message, report):
    with pytest.raises(UsageError, match=message):
        attnx.load(report.fingerprint).explain(**asked)


def test_explanations_go_through_json_and_text_of_data_is_escaped_in_html(report):
    found = attnx.load(report.fingerprint).explain("a <script>alert(1)</script> man")
    assert type(found).from_json(found.to_json()) == found
    assert "<script>" not in found.to_html()
    assert "&lt;script&gt;" in found.to_html()
    assert "src=" not in found.to_html()


def test_features_are_explained_by_id_alone():
    report = attnx.evaluate(
        "sdc-digits:train=30,dev=20,test=20", training={"epochs": 1}, metrics=["nnz"], progress=False
    )
    run = attnx.load(report.fingerprint)
    with pytest.raises(UsageError, match="is not made of words"):
        run.predict("a")
    assert run.explain(example=run.examples[0].id).predicted == run.examples[0].seen[0].predicted


def test_metrics_of_single_texts_are_those_that_the_run_stored():
    metrics = ["comprehensiveness", "kendall", "entropy", "permutation"]
    asked = {**ASKED, "seeds": [0], "metrics": metrics, "explanations": ["attention", "input-x-gradient"]}
    report = attnx.evaluate(**asked)
    run = attnx.load(report.fingerprint)
    stored = run.examples[:6]
    found = run.explain(
        example=[one.id for one in stored], methods=["attention", "input-x-gradient"], metrics=metrics
    )
    compared = 0
    for one, example in zip(found, stored, strict=True):
        (seen,) = example.seen
        values = {(of.metric, of.measure, of.method, of.reference): of for of in one.metrics}
        for column, value in seen.measures.items():
            key = (column.metric, column.measure, column.explanation, column.reference)
            if key in values:
                compared += 1
                assert (values[key].value is None) == (value is None)
                assert value is None or values[key].value == pytest.approx(value, abs=1e-6)
                assert values[key].direction == column.direction
    assert compared >= 6 * len(metrics)
    assert {of.metric for of in found[0].metrics} == set(metrics)
    assert {of.method for of in found[0].metrics if of.metric == "permutation"} == {None}


def test_a_list_is_explained_like_its_texts(report):
    run = attnx.load(report.fingerprint)
    texts = ["a radiant man", "so gloomy and so long a day it was", "a"]
    found = run.explain(texts, ["attention", "gradient", "loo", "lime"], metrics="comprehensiveness")
    assert type(found).from_json(found.to_json()) == found
    for text, one in zip(texts, found, strict=True):
        alone = run.explain(text, ["attention", "gradient", "loo", "lime"], metrics="comprehensiveness")
        assert (alone.units, alone.predicted) == (one.units, one.predicted)
        for method in found.methods:
            assert one.array(method) == pytest.approx(alone.array(method), abs=1e-5)
        for one_value, value in zip(one.metrics, alone.metrics, strict=True):
            assert one_value.value == pytest.approx(value.value, abs=1e-5)


def test_a_report_stands_for_its_run(report):
    run = attnx.load(report.fingerprint)
    assert attnx.explain(report, "a radiant man") == attnx.explain(run, "a radiant man")
    assert attnx.explain(run.folder, "a radiant man") == run.explain("a radiant man")
    lost = report.model_copy(update={"fingerprint": ""})
    with pytest.raises(UsageError, match="This report is not stored"):
        attnx.explain(lost, "a radiant man")


def test_methods_of_ones_own_explain_too(report):
    def first(model, trace, target, random):
        scores = torch.zeros_like(trace.attention)
        scores[:, 0] = 1.0
        return scores

    found = attnx.load(report.fingerprint).explain(["a radiant man"], first)
    assert found[0].scores == {"first": (1.0, 0.0, 0.0)}


def test_questions_come_one_for_all_or_one_for_each(report):
    run = attnx.load(report.fingerprint)
    with pytest.raises(UsageError, match="There are 2 texts and 1 questions"):
        run.explain(["a", "b"], query=["why"])
