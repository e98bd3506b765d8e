"""`attnx.explain` of classifiers without a task: closed forms, and what an evaluation of the texts gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from explained_models import Linear
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import attnx
from attnx.results import Explanation, Explanations
from attnx.results.explanation import RANDOM_DRAWS

# By word, what it adds to the logits of three classes.
WEIGHTS = {"great": (-1.0, 0.5, 2.0), "awful": (3.0, 0.0, -1.0), "long": (0.5, 0.25, -0.25)}
TEXTS = ["great acting in an awful film", "an awful film", "a great, GREAT film", "long", "so long and great"]
LABELS = ["0", "0", "2", "1", "2"]
QUIET: dict[str, Any] = {"progress": False}


def logits(text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    words = text.lower().replace(",", " ").split()
    return np.sum([WEIGHTS.get(word, (0.0, 0.0, 0.0)) for word in words] + [(0.0, 0.0, 0.0)], axis=0)


def predict(texts: list[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A softmax of sums of weights, by hand."""
    e = np.exp([logits(text) for text in texts])
    return e / e.sum(1, keepdims=True)


def weight(word: str, of: int, against: int) -> float:
    values = WEIGHTS.get(word.lower(), (0.0, 0.0, 0.0))
    return values[of] - values[against]


def without(text: str, position: int) -> str:
    words = text.split()
    return " ".join(words[:position] + words[position + 1 :])


@pytest.mark.parametrize(
    "method", ["feature-ablation:of=logit", "lime:of=logit,regression=linear", "kernel-shap:of=logit"]
)
def test_a_contrast_of_logits_is_the_difference_of_the_weights_of_a_linear_model(method: str) -> None:
    """log p of one class is not linear in the words, because of the normaliser; the log-odds are."""
    found = attnx.explain(predict, TEXTS, method, target="2", versus="0", **QUIET)
    for one in found:
        expected = [weight(unit, 2, 0) for unit in one.units]
        np.testing.assert_allclose(one.array(method), expected, atol=2e-4)
        alone = attnx.explain(predict, " ".join(one.units), method, target="2", **QUIET).array(method)
        assert len(one.units) == 1 or not np.allclose(
            alone, [WEIGHTS.get(u.lower(), (0, 0, 0))[2] for u in one.units]
        )


def test_a_contrast_of_probabilities_is_the_change_of_their_difference() -> None:
    text = TEXTS[0]
    method = "loo:signed=true,normalise=false"
    found = attnx.explain(predict, text, ["feature-ablation", method], target="2", versus="0", **QUIET)
    whole = predict([text])[0]
    shorter = predict([without(text, at) for at in range(6)])
    expected = (whole[2] - whole[0]) - (shorter[:, 2] - shorter[:, 0])
    np.testing.assert_allclose(found.array("feature-ablation"), expected, atol=1e-6)
    np.testing.assert_allclose(found.array(method), expected, atol=1e-6)
    assert (found.target, found.versus, found.predicted) == ("2", "0", "0")
    for out in found.left_out:
        assert out.probability == pytest.approx(shorter[out.position, 2] - shorter[out.position, 0], abs=1e-6)
        assert out.change == pytest.approx(-expected[out.position], abs=1e-6)


def test_a_contrast_of_a_differentiable_model_has_its_closed_form() -> None:
    """The toy model has the logits ∓ the mean of second coordinates: its own instance needs no task."""
    second = {"one": 0.5, "two": 1.0, "three": -1.0}
    methods = ["integrated-gradients:of=logit", "gradient:of=logit,reduce=signed,normalise=false"]
    found = attnx.explain(Linear(), "one two three", methods, target="1", versus="0", **QUIET)
    for method in methods:
        np.testing.assert_allclose(found.array(method), [2 * second[u] / 3 for u in found.units], atol=1e-6)


def test_every_class_is_explained_and_the_predicted_one_comes_first() -> None:
    found = attnx.explain(predict, TEXTS[2], "feature-ablation", target="all", **QUIET)
    assert (found.predicted, found.target) == ("2", "2")
    assert [one.target for one in found.others] == ["0", "1"]
    for name in ("0", "1", "2"):
        alone = attnx.explain(predict, TEXTS[2], "feature-ablation", target=name, **QUIET)
        np.testing.assert_array_equal(found.array("feature-ablation", name), alone.array("feature-ablation"))
    np.testing.assert_allclose(sum(found.array("feature-ablation", name) for name in "012"), 0, atol=1e-6)
    assert list(found.to_frame()["target"]) == ["2"] * 5 + ["0"] * 5 + ["1"] * 5
    with pytest.raises(attnx.UsageError, match="no explained class '3' here"):
        found.array("feature-ablation", "3")


def test_scores_and_metrics_are_those_of_an_evaluation_of_the_same_texts() -> None:
    methods, metrics = ["loo", "feature-ablation"], ["comprehensiveness", "sufficiency"]
    report = attnx.evaluate((TEXTS, LABELS), predict, explanations=methods, metrics=metrics, **QUIET)
    found = attnx.explain(predict, TEXTS, methods, metrics=metrics, **QUIET)
    assert isinstance(found, Explanations)
    for one, example in zip(found, sorted(report.examples(), key=lambda e: e.id), strict=True):
        (seen,) = example.seen
        assert (one.units, one.predicted) == (example.units, seen.predicted)
        assert tuple(one.probabilities.values()) == pytest.approx(seen.probabilities, abs=1e-7)
        for method in methods:
            np.testing.assert_allclose(
                one.array(method), np.array(seen.scores[method], float), atol=1e-3
            )  # stored in half precision
        measured = {(of.metric, of.measure, of.method): of.value for of in one.metrics}
        evaluated = {
            (column.metric, column.measure, column.explanation): value
            for column, value in seen.measures.items()
            if column.explanation in methods
        }
        assert measured.keys() == evaluated.keys()
        np.testing.assert_allclose(
            np.array([*measured.values()], float),
            np.array([evaluated[key] for key in measured], float),
            atol=1e-9,
        )


def test_the_random_value_is_the_mean_over_draws_of_random_scores() -> None:
    draws = ["random", *(f"random:seed={seed}" for seed in range(1, RANDOM_DRAWS))]
    metrics = ["comprehensiveness", "sufficiency"]
    found = attnx.explain(predict, TEXTS[0], ["loo", *draws], metrics=metrics, **QUIET)
    for metric in metrics:
        values = {of.method: of.value for of in found.metrics if of.metric == metric}
        (random,) = {of.random for of in found.metrics if of.metric == metric}
        assert random == pytest.approx(np.mean([float(values[draw] or 0) for draw in draws]))
        assert len({values[draw] for draw in draws}) > 1


def test_a_text_has_the_same_explanation_alone_in_any_order_and_in_any_company() -> None:
    asked: dict[str, Any] = {"methods": ["loo", "lime"], "metrics": "comprehensiveness", **QUIET}
    together = attnx.explain(predict, TEXTS, **asked)
    assert list(attnx.explain(predict, TEXTS[::-1], **asked))[::-1] == list(together)
    for text, one in zip(TEXTS, together, strict=True):
        assert attnx.explain(predict, text, **asked) == one


def test_texts_go_through_the_model_in_batches() -> None:
    sizes: list[int] = []

    def counted(texts: list[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
        sizes.append(len(texts))
        return predict(texts)

    texts = [f"great film number {'x' * number}" for number in range(1, 40)]
    attnx.explain(counted, texts, "loo", **QUIET)
    several = len(sizes)
    sizes.clear()
    attnx.explain(counted, texts[0], "loo", **QUIET)
    assert several <= len(sizes) + 1


def test_a_pipeline_keeps_the_names_of_its_classes() -> None:
    labels = ["bad", "bad", "good", "bad", "good"]
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression(C=100)).fit(TEXTS, labels)
    found = attnx.explain(pipeline, TEXTS, target="good", **QUIET)
    assert [one.predicted for one in found] == labels
    assert list(found[0].probabilities) == ["bad", "good"]
    np.testing.assert_allclose(
        [list(one.probabilities.values()) for one in found], pipeline.predict_proba(TEXTS), atol=1e-6
    )
    assert found.methods == ("loo",)
    assert found[2].units == ("a", "great", ",", "GREAT", "film")
    assert found.title == "Pipeline"


def test_the_frame_has_a_row_for_each_text_class_method_and_word() -> None:
    found = attnx.explain(
        predict, TEXTS, ["loo", "feature-ablation"], target="all", metrics="comprehensiveness", **QUIET
    )
    frame = found.to_frame()
    assert len(frame) == sum(len(one.units) for one in found) * 2 * 3
    row = frame.query("text == 1 and method == 'loo' and target == '0' and position == 1").iloc[0]
    assert (row.unit, row.predicted) == ("awful", "0")
    assert row.score == found[1].array("loo", "0")[1] == found.arrays("loo", "0")[1][1]
    measured = found.metrics_frame()
    assert len(measured) == len(TEXTS) * 3 * 2
    assert set(measured.columns) >= {"text", "target", "method", "metric", "value", "random"}
    assert isinstance(found[0], Explanation)
    assert len(found[1:3]) == 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"target": "3"}, r"no class '3'\. Classes: 0, 1, 2"),
        ({"versus": "1"}, "name the other one with --target"),
        ({"target": "1", "versus": "1"}, "two different classes"),
        ({"target": "gold"}, "the label of an example, which a text of your own does not have"),
        ({"metrics": "mi-kendall"}, "mi-kendall"),
        ({"methods": "attention"}, "needs attention weights"),
        ({"texts": []}, "list of texts is empty"),
        ({"texts": ["good", " "]}, "Text 2 of 2 is empty"),
        ({"texts": ["good", 3]}, "Text 2 of 2 is not a string but int"),
        ({"texts": None, "example": "row-1"}, "given without a task"),
        ({"query": "why"}, "leave the query out"),
    ],
)
def test_a_mistake_is_one_line(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(attnx.UsageError, match=message) as raised:
        attnx.explain(predict, **{"texts": TEXTS[:1], **asked}, **QUIET)
    assert "\n" not in str(raised.value)


def test_a_metric_of_a_whole_split_is_refused_by_name_and_left_out_of_all() -> None:
    asked: dict[str, Any] = {"texts": "one two three", **QUIET}
    with pytest.raises(attnx.UsageError, match="all texts of a test split together"):
        attnx.explain(Linear(), metrics="mi-kendall", **asked)
    found = attnx.explain(Linear(), metrics="all", **asked)
    assert isinstance(found, Explanation)
    assert {"comprehensiveness", "kendall"} <= {of.metric for of in found.metrics}
    assert "mi-kendall" not in {of.metric for of in found.metrics}


def test_a_model_that_must_be_trained_needs_a_task() -> None:
    with pytest.raises(attnx.UsageError, match="would be trained first: name its task with --task\\."):
        attnx.explain("bilstm-add", "a film", **QUIET)
