"""Importance methods that are Python functions of a model and texts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import attnx
from attnx.testing import ToyModel, assert_conforms, toy_data
from attnx_black_box.function_method import of_function

TEXTS = ["a great film", "an awful film", "great great", "awful bad bad bad", "so great"]
LABELS = ["1", "0", "1", "0", "1"]
QUIET: dict[str, Any] = {"progress": False}


def predict(texts: list[str]) -> Any:
    x = np.array([[text.count("great") - text.count("awful")] for text in texts], float)
    p = 1 / (1 + np.exp(-x))
    return np.hstack([1 - p, p])


def own_loo(model: Any, texts: Any) -> Any:
    """Leave-one-out, as a user would write it."""
    scores = []
    for words, target in zip(texts, model.target, strict=True):
        whole = model([words])[0][target]
        shorter = [words[:at] + words[at + 1 :] for at in range(len(words))]
        scores.append([whole - model([s])[0][target] if s else 0.0 for s in shorter])
    return scores


def lengths(model: Any, texts: Any) -> Any:
    return [[len(word) for word in words] for words in texts]


def test_a_function_explains_like_the_method_that_it_writes_out() -> None:
    found = attnx.explain(predict, TEXTS, [own_loo, "loo:normalise=false"], target="1", **QUIET)
    for one in found:
        np.testing.assert_allclose(one.array("own_loo"), one.array("loo:normalise=false"), atol=1e-6)


@pytest.mark.parametrize("contrast", [{}, {"target": "0", "versus": "1"}])
def test_a_function_is_evaluated_next_to_a_named_method(contrast: dict[str, Any]) -> None:
    methods = [own_loo, "loo"]
    report = attnx.evaluate(
        (TEXTS, LABELS), predict, explanations=methods, metrics="comprehensiveness", **contrast, **QUIET
    )
    values = {s.explanation: s.mean for s in report.summaries if s.group == "all"}
    assert values["own_loo"] == pytest.approx(values["loo"], abs=1e-6)
    assert not report.spec.explanations[0].options


def test_a_function_keeps_the_laws_of_a_method() -> None:
    assert_conforms("importance", of_function(lengths))
    assert_conforms("importance", of_function(own_loo))


def test_the_model_of_a_function_reads_strings_and_words_alike() -> None:
    asked = []

    def spy(model: Any, texts: Any) -> Any:
        asked.append((model([texts[0]]), model([" ".join(texts[0])])))
        return [[0.0] * len(words) for words in texts]

    attnx.evaluate("sdc-text", "average-add", explanations=spy, limit=20,
                   metrics="comprehensiveness", training={"epochs": 1}, **QUIET)  # fmt: skip
    for words, text in asked:
        np.testing.assert_allclose(words, text, rtol=1e-6)
        np.testing.assert_allclose(words.sum(1), 1)


def test_a_method_with_the_arguments_of_the_protocol_stays_itself() -> None:
    def attention(model: Any, trace: Any, target: Any, random: Any) -> Any:
        return trace.attention

    assert of_function(attention) is attention
    assert of_function(partial(own_loo)).function.func is own_loo


def test_signs_are_declared_by_an_attribute() -> None:
    def signed(model: Any, texts: Any) -> Any:
        return lengths(model, texts)

    assert not of_function(signed).signed
    signed.signed = True  # type: ignore[attr-defined]
    assert of_function(signed).signed


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda texts: [[1.0]] * len(texts), r"returned 1 scores for the 2 words of 'great great'"),
        (lambda texts: [[float("nan")] * len(words) for words in texts], "not finite for"),
        (lambda texts: [], "scores for 0 texts"),
        (lambda texts: 3, "one list of scores for each text"),
        (lambda texts: [["x"] * len(words) for words in texts], "'x' is not a number"),
        (lambda texts: [["1"] * len(words) for words in texts], "'1' is not a number"),
        (lambda texts: [np.ones(len(words)) * 1j for words in texts], "'1j' is not a number"),
        (lambda texts: [np.ones((2, len(words))) for words in texts], r"have the shape \(2, 2\)"),
        (lambda texts: [[1e300] * len(words) for words in texts], "1e\\+300 for .* too large for single"),
        (
            lambda texts: [[1 + at * 1e-9 for at, _ in enumerate(words)] for words in texts],
            "differ too little for single precision",
        ),
    ],
)
def test_a_wrong_result_is_one_line(returned: Any, message: str) -> None:
    def wrong(model: Any, texts: Any) -> Any:
        return returned(texts)

    with pytest.raises(attnx.PluginError, match=message) as raised:
        attnx.explain(predict, TEXTS, wrong, **QUIET)
    assert "\n" not in str(raised.value)
    assert "'wrong'" in str(raised.value)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("great", "give a list of texts"),
        ([[]], "empty"),
        ([[3]], "not made of words"),
        ([3], "not made of words"),
    ],
)
def test_a_wrong_question_to_the_model_is_one_line_with_the_name_of_the_function(
    asked: Any, message: str
) -> None:
    def curious(model: Any, texts: Any) -> Any:
        return model(asked)

    with pytest.raises(attnx.PluginError, match=f"'curious' asked the model about .*{message}"):
        attnx.explain(predict, TEXTS, curious, **QUIET)


def test_a_function_that_cannot_be_called_so_is_refused_at_once() -> None:
    def alone(texts: Any) -> Any:
        return texts

    with pytest.raises(attnx.UsageError, match=r"cannot be called as alone\(model, texts\)"):
        attnx.explain(predict, TEXTS, alone, **QUIET)
    with pytest.raises(attnx.DataError, match="come with a question"):
        attnx.evaluate("babi-generated", explanations=own_loo, metrics="comprehensiveness", limit=20, **QUIET)


def test_a_function_in_a_file_is_named_on_the_command_line(cli: Any, tmp_path: Any) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def lengths(model, texts):\n    return [[len(w) for w in t] for t in texts]\n")
    asked = ["--task", "sdc-text", "--model", "average-add", "--limit", "20", "--train", "epochs=1"]
    code, out, err = cli(
        "evaluate", *asked, "--metric", "comprehensiveness", "--explanation", f"{file}:lengths"
    )
    assert code == 0
    assert "lengths" in out
    assert "give --out" in err
    code, out, _ = cli("explain", *asked, "w1 w2", "--method", f"{file}:lengths")
    assert code == 0
    assert "lengths" in out
    code, _, err = cli("evaluate", *asked, "--explanation", f"{file}:lenghts")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "There is no 'lenghts'" in err
    assert "Did you mean 'lengths'?" in err
    code, _, err = cli("evaluate", *asked, "--explanation", f"{tmp_path}/min.py:lengths")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "There is no file" in err


def test_a_text_keeps_its_scores_whatever_the_model_reads() -> None:
    """The toy model of the tests has special columns: scores go to words, not to columns."""
    from attnx.testing import MarkedToyModel

    assert_conforms("importance", of_function(lengths))
    for model in (ToyModel(), MarkedToyModel()):
        batch = model.encode(toy_data().test)
        trace = model.run(batch, model.embed(batch))
        scores = of_function(lengths)(model, trace, trace.predicted, None)  # type: ignore[arg-type]
        for row, example in enumerate(batch.examples):
            assert scores[row][batch.mask[row]].tolist() == [float(len(word)) for word in example.units]
