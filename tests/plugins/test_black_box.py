"""Functions and scikit-learn classifiers as models: what they are asked, and what comes out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline

import attnx
from attnx.plugin import Example
from attnx_black_box.function_model import FunctionModel, of_estimator
from attnx_black_box.removal import text_of

TEXTS = [
    "a great, GREAT film",
    "an awful film",
    "great acting in an awful film",
    "the film was long",
    "truly awful",
    "great",
] * 4
LABELS = ["good", "bad", "good", "bad", "bad", "good"] * 4
WEIGHTS = {"great": 2.0, "awful": -3.0, "long": -0.5}


def predict(texts: list[str]) -> np.ndarray:
    """Logistic regression on counts of words, by hand."""
    words = [text.lower().replace(",", " ").split() for text in texts]
    z = np.array([sum(WEIGHTS.get(word, 0.0) for word in some) for some in words])
    p = 1 / (1 + np.exp(-z))
    return np.stack([1 - p, p], axis=1)  # bad, good


def example(text: str, *words: tuple[str, int]) -> Example:
    return Example("e", tuple(w for w, _ in words), 0, text=text, starts=tuple(s for _, s in words))


def test_a_text_with_all_its_words_is_the_text_as_written():
    one = example(" Well,  done! ", ("Well", 1), (",", 5), ("done", 8), ("!", 12))
    assert text_of(one, [0, 1, 2, 3]) == " Well,  done! "


def test_removing_a_word_leaves_the_spaces_between_neighbours():
    one = example("Well,  done!", ("Well", 0), (",", 4), ("done", 7), ("!", 11))
    assert text_of(one, [0, 1, 3]) == "Well, !"
    assert text_of(one, [2, 3]) == "done!"
    assert text_of(one, [0, 2]) == "Well done"
    assert text_of(one, []) == ""


def test_words_without_a_text_are_joined_by_spaces():
    assert text_of(Example("e", ("a", "b", "c"), 0), [0, 2]) == "a c"


def test_a_word_in_the_place_of_another_keeps_the_spaces_around_it():
    one = example("Well,  done!", ("Well", 0), (",", 4), ("done", 7), ("!", 11))
    assert text_of(one, [0, 1, 2, 3], ["Well", ",", "bad", "!"]) == "Well,  bad!"
    assert text_of(Example("e", ("a", "b"), 0), [0, 1], ["a", "x"]) == "a x"


def test_leave_one_out_is_the_change_of_the_functions_own_output():
    report = attnx.evaluate((TEXTS, LABELS), predict, explanations="loo", metrics="none", progress=False)
    found = {e.units: e.seen[0].scores["loo"] for e in report.examples()}
    text = "great acting in an awful film"
    words = text.split()
    whole = predict([text])[0]
    target = whole.argmax()
    shorter = [" ".join(words[:i] + words[i + 1 :]) for i in range(len(words))]
    changes = whole[target] - predict(shorter)[:, target]
    expected = changes / np.abs(changes).sum()  # `loo` gives shares, with their signs
    np.testing.assert_allclose(found[tuple(words)], expected, atol=2e-3)  # stored in half precision


def test_lime_finds_the_words_with_weights():
    report = attnx.evaluate((TEXTS, LABELS), predict, explanations="lime", metrics="none", progress=False)
    scores = next(e for e in report.examples() if len(e.units) == 6).seen[0].scores["lime"]
    assert np.abs(scores).argsort()[-2:].tolist() in ([0, 4], [4, 0])  # great, awful


def test_every_text_is_asked_for_once_in_a_pass():
    asked: list[str] = []

    def counted(texts: list[str]) -> np.ndarray:
        asked.extend(texts)
        return predict(texts)

    model = FunctionModel(counted)
    batch = model.encode([Example(str(n), ("same", "text"), 0) for n in range(5)])
    model.run(batch, model.embed(batch))
    assert asked == ["same text"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda texts: np.full((len(texts), 2), 0.7), "sums from 1.4 to 1.4"),
        (lambda texts: np.array([[-0.5, 1.5]] * len(texts)), "negative"),
        (lambda texts: np.ones(len(texts)), r"shape \(.*,\) for"),
        (lambda texts: [["a", "b"]] * len(texts), "must take a list of texts"),
    ],
)
def test_an_answer_that_is_not_probabilities_is_refused_in_one_line(answer, message):
    with pytest.raises(attnx.PluginError, match=message) as raised:
        attnx.evaluate((TEXTS, LABELS), answer, metrics="none", progress=False)
    assert "\n" not in str(raised.value)


def fitted(labels):
    return make_pipeline(CountVectorizer(), LogisticRegression(C=100)).fit(TEXTS, labels)


def test_a_classifier_keeps_the_order_of_its_own_classes():
    """Classes are sorted differently in the task (by number) and in the classifier (as text)."""
    labels = ["10" if label == "good" else "9" for label in LABELS]
    pipeline = fitted(labels)
    assert list(pipeline.classes_) == ["10", "9"]
    report = attnx.evaluate((TEXTS, labels), pipeline, metrics="none", progress=False)
    assert report.quality[0].accuracy == pipeline.score(TEXTS, labels) == 1.0
    assert report.examples().label_names == ("10", "9")


def test_all_texts_are_test_texts_of_a_trained_model():
    report = attnx.evaluate((TEXTS, LABELS), fitted(LABELS), metrics="none", progress=False)
    assert report.provenance.data["test"] == str(len(TEXTS))
    assert sorted(" ".join(e.units) for e in report.examples())[-1] == "truly awful"


def test_labels_that_are_no_classes_are_refused_with_both_lists():
    other = ["yes" if label == "good" else "no" for label in LABELS]
    with pytest.raises(attnx.UsageError, match=r"classes 'bad', 'good'.*labels 'no', 'yes'"):
        attnx.evaluate((TEXTS, other), fitted(LABELS), metrics="none", progress=False)


def test_a_classifier_without_probabilities_or_not_fitted_is_refused():
    ridge = make_pipeline(CountVectorizer(), RidgeClassifier()).fit(TEXTS, LABELS)
    with pytest.raises(attnx.UsageError, match="has no predict_proba"):
        of_estimator(ridge)
    with pytest.raises(attnx.UsageError, match="is not fitted"):
        of_estimator(LogisticRegression())


def test_what_needs_attention_or_gradients_is_refused_for_a_function():
    with pytest.raises(attnx.UsageError, match="attention"):
        attnx.evaluate((TEXTS, LABELS), predict, explanations="attention", progress=False)
    with pytest.raises(attnx.UsageError, match="gradient"):
        attnx.evaluate((TEXTS, LABELS), predict, explanations="integrated-gradients", progress=False)
