"""Explanations and tests of other classes than the predicted one, and of the contrast of two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from explained_models import Linear

import attnx
from attnx.run.measuring.contrast import contrast_of

# By word, what it adds to the logits of three classes.
WEIGHTS = {"great": (-1.0, 0.5, 2.0), "awful": (3.0, 0.0, -1.0), "long": (0.5, 0.25, -0.25)}
TEXTS = ["great acting in an awful film", "an awful film", "great and great", "long", "so long and great"]
LABELS = ["0", "2", "2", "1", "0"]
QUIET: dict[str, Any] = {"progress": False}
BINS = (1, 5, 10, 20, 50)


def predict(texts: list[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A softmax of sums of weights, by hand."""
    nothing = (0.0, 0.0, 0.0)
    logits = [np.sum([WEIGHTS.get(w, nothing) for w in t.split()] + [nothing], axis=0) for t in texts]
    e = np.exp(logits)
    return e / e.sum(1, keepdims=True)


def output(texts: list[str], target: str, versus: str | None, label: str) -> Any:
    """[N] the explained output as it is defined."""
    p = predict(texts)
    named = label if target == "gold" else target
    if versus is not None:
        return (1 + p[:, int(named)] - p[:, int(versus)]) / 2
    return p[:, int(named)] if named != "predicted" else p[:, p[0].argmax()]


def leave_one_out(words: list[str], target: str, versus: str | None, label: str) -> Any:
    shorter = [" ".join(words[:at] + words[at + 1 :]) for at in range(len(words))]
    y = output([" ".join(words), *shorter], target, versus, label)
    return y[0] - y[1:]


@pytest.mark.parametrize(
    ("target", "versus"), [("predicted", None), ("gold", None), ("1", None), ("2", "0"), ("0", "2")]
)
def test_methods_and_removal_tests_are_about_the_class_that_is_asked_for(
    target: str, versus: str | None
) -> None:
    report = attnx.evaluate(
        (TEXTS, LABELS),
        predict,
        explanations="loo",
        metrics=["comprehensiveness", "sufficiency", "faithfulness"],
        target=target,
        versus=versus,
        **QUIET,
    )
    for example in report.examples():
        (seen,) = example.seen
        words, label = list(example.units), example.label
        if len(words) == 1:
            continue
        change = leave_one_out(words, target, versus, label)
        found = np.array(seen.scores["loo"], float)
        np.testing.assert_allclose(found, change / np.abs(change).sum(), atol=2e-3)  # stored in halves
        order = np.argsort(-change, kind="stable")
        sizes = [max(1, int(np.ceil(k / 100 * len(words)))) for k in BINS]
        whole = output([" ".join(words)], target, versus, label)[0]
        values = {(column.metric, column.measure): value for column, value in seen.measures.items()}
        p = predict([" ".join(words)])[0]
        for metric, kept in (("comprehensiveness", False), ("sufficiency", True)):
            texts = [
                " ".join(w for at, w in enumerate(words) if (at in order[:size]) == kept) for size in sizes
            ]
            y = output([" ".join(words), *texts], target, versus, label)[1:]
            if target == "predicted":
                y = predict(texts)[:, p.argmax()]
            assert values[metric, "aopc"] == pytest.approx(float((whole - y).mean()), abs=1e-5)
    assert (report.spec.target, report.spec.versus) == (target, versus)
    said = [caution.text for caution in report.warnings if caution.kind == "explained-class"]
    assert bool(said) == (target != "predicted")


def test_another_class_is_another_run_and_names_itself(tmp_path: Any) -> None:
    first, second = (
        attnx.evaluate("sdc-text", "average-add", metrics="comprehensiveness", limit=40, out=tmp_path,
                       training={"epochs": 1}, target=target, **QUIET)
        for target in ("predicted", "gold")
    )  # fmt: skip
    assert first.fingerprint != second.fingerprint
    assert attnx.runs.show(second.fingerprint, out=tmp_path).spec.target == "gold"


def test_the_size_of_a_gradient_explains_a_contrast() -> None:
    """Of two classes q is p, so a contrast has the scores of the class itself; of three it has not."""
    methods = ["gradient", "smoothgrad:noise=0", "gradient:reduce=signed", "loo:signed=false"]
    one = attnx.explain(Linear(), "one two three", methods, target="1", **QUIET)
    both = attnx.explain(Linear(), "one two three", methods, target="1", versus="0", **QUIET)
    for method in methods:
        np.testing.assert_allclose(both.array(method), one.array(method), rtol=1e-5)


def test_a_contrast_of_three_classes_has_the_difference_as_its_output() -> None:
    z = torch.randn(50, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 8
    seen = contrast_of(Linear(), 2, 0).logits(z)  # type: ignore[attr-defined]
    p = z.softmax(-1)
    torch.testing.assert_close(seen.softmax(-1)[:, 0], (1 + p[:, 2] - p[:, 0]) / 2)
    torch.testing.assert_close(seen[:, 0], z[:, 2] - z[:, 0])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"target": "3"}, r"no class '3'\. Classes: 0, 1, 2"),
        ({"target": "all"}, "one class"),
        ({"versus": "1"}, "name the other one with --target"),
        ({"target": "gold", "versus": "1"}, "name the other one with --target"),
        ({"target": "1", "versus": "1"}, "two different classes"),
    ],
)
def test_a_class_that_makes_no_sense_is_one_line(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(attnx.UsageError, match=message) as raised:
        attnx.evaluate((TEXTS, LABELS), predict, metrics="comprehensiveness", **asked, **QUIET)
    assert "\n" not in str(raised.value)


def test_marked_words_are_about_the_label_alone() -> None:
    with pytest.raises(attnx.UsageError, match=r"known to matter for the label.*--target gold"):
        attnx.evaluate("sdc-text", metrics="focus", target="1", **QUIET)
