"""`context-cite`: scikit-learn's own pipeline on the same masks, and a model of which the answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from explained_models import MODELS
from sklearn.linear_model import Lasso
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import attnx
from attnx.plugin import Batch, Example
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.testing import assert_conforms
from attnx_erasure.context_cite import ContextCite
from attnx_erasure.options import ContextCiteOptions

QUIET: dict[str, Any] = {"progress": False}


class Recorded:
    """Random numbers that a test knows."""

    def __init__(self, values: torch.Tensor) -> None:
        self.values = values

    def to(self, purpose: str) -> Recorded:
        return self

    def uniform(self, batch: Batch, draws: int) -> torch.Tensor:
        return self.values[: len(batch), :draws, : batch.mask.shape[1]]


def test_weights_are_those_of_the_papers_pipeline() -> None:
    model, data = MODELS["bilstm"]()
    example = max(data.test, key=lambda one: len(one.units))
    samples, generator = 64, torch.Generator().manual_seed(0)
    with evaluating(model):
        trace = trace_of(model, model.encode([example]))
        units = trace.batch.mask[0]  # not its special columns
        drawn = torch.rand(1, samples, len(units), generator=generator, dtype=torch.float64)
        method = ContextCite(ContextCiteOptions(penalty=0.002))
        found = method(model, trace, trace.predicted, Recorded(drawn))  # type: ignore[arg-type]
        masks = drawn[0][:, units] < 0.5
        odds = []
        for mask in masks:
            kept = tuple(unit for unit, there in zip(example.units, mask, strict=True) if there)
            p = trace_of(model, model.encode([Example("part", kept, 0)])).logits[0].double().softmax(-1)
            odds.append(float((p / (1 - p)).log()[trace.predicted[0]]))
    pipeline = make_pipeline(StandardScaler(), Lasso(alpha=0.002)).fit(masks.numpy().astype(float), odds)
    expected = pipeline[1].coef_ / pipeline[0].scale_
    np.testing.assert_allclose(found[0][units].numpy(), expected, atol=1e-4)
    assert np.abs(expected).max() > 1e-2


def predict(texts: list[str]) -> Any:
    """Log-odds that are a sum over words: 3 for w7, −2 for w30."""
    odds = np.array([3.0 * ("w7" in text.split()) - 2.0 * ("w30" in text.split()) for text in texts])
    p = 1 / (1 + np.exp(-odds))
    return np.stack([1 - p, p], axis=1)


def test_the_deciding_words_of_a_long_text_are_found_and_the_others_get_nothing() -> None:
    text = " ".join(f"w{number}" for number in range(48))
    found = attnx.explain(predict, text, "context-cite", target="1", **QUIET).array("context-cite")
    assert found[7] == pytest.approx(3, abs=0.1)
    assert found[30] == pytest.approx(-2, abs=0.1)
    others = np.delete(found, [7, 30])
    assert np.abs(others).max() < 0.1
    assert (others == 0).mean() > 0.5


def test_the_other_class_has_the_opposite_scores() -> None:
    text = "w1 w7 w30"
    one, other = (
        attnx.explain(predict, text, "context-cite", target=target, **QUIET).array("context-cite")
        for target in "01"
    )
    np.testing.assert_allclose(one, -other, atol=1e-6)


def test_a_text_never_becomes_empty_and_an_only_word_gets_nothing() -> None:
    asked: list[str] = []

    def spy(texts: list[str]) -> Any:
        asked.extend(texts)
        return predict(texts)

    found = attnx.explain(spy, ["w7", "w7 w30", "w1 w2 w7"], "context-cite", **QUIET)
    assert all(asked)
    assert found[0].array("context-cite").tolist() == [0.0]


def test_laws() -> None:
    assert_conforms("importance", ContextCite(ContextCiteOptions(samples=12)))
