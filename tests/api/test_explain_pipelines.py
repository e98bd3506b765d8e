"""`attnx.explain` of Hugging Face classifiers without a task: what their owner's pipeline predicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tiny_checkpoints
import transformers

import attnx
from attnx_transformers.checkpoints import quiet

TEXTS = ["one two threefourfive", "five is a no"]
NAMES = {0: "bad", 1: "good", 2: "meh"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    numbers = {name: number for number, name in NAMES.items()}
    place = tmp_path_factory.mktemp("checkpoint")
    return tiny_checkpoints.save("classifier", place, id2label=NAMES, label2id=numbers)


@pytest.fixture(scope="module")
def pipeline(folder: Path) -> Any:
    with quiet():
        return transformers.pipeline("text-classification", model=str(folder), top_k=None, device="cpu")


def test_predictions_are_those_of_the_pipeline_in_every_form(folder: Path, pipeline: Any) -> None:
    expected = [{one["label"]: one["score"] for one in of} for of in pipeline(TEXTS)]
    asked: dict[str, Any] = {"methods": ["attention", "loo"], "progress": False}
    found = [
        attnx.explain(pipeline, TEXTS, **asked),
        attnx.explain((pipeline.model, pipeline.tokenizer), TEXTS, **asked),
        attnx.explain(f"hf-classifier:checkpoint={folder}", TEXTS, training={"epochs": 0}, **asked),
    ]
    for several in found:
        for one, of in zip(several, expected, strict=True):
            assert list(one.probabilities) == list(NAMES.values())
            assert one.probabilities == pytest.approx(of, abs=1e-5)
        for method in several.methods:
            for scores, first in zip(several.arrays(method), found[0].arrays(method), strict=True):
                assert scores == pytest.approx(first, abs=1e-6)


def test_a_contrast_is_the_difference_of_the_scores_of_both_classes(pipeline: Any) -> None:
    """All probabilities sum to 1, so the scores of all classes sum to 0."""
    method = "integrated-gradients"
    asked: dict[str, Any] = {"methods": method, "progress": False}
    contrast = attnx.explain(pipeline, TEXTS[0], target="good", versus="bad", **asked)
    each = attnx.explain(pipeline, TEXTS[0], target="all", **asked)
    difference = each.array(method, "good") - each.array(method, "bad")
    assert contrast.array(method) == pytest.approx(difference, abs=1e-6)
    assert sum(each.array(method, name) for name in NAMES.values()) == pytest.approx(0, abs=1e-5)


def test_a_checkpoint_that_would_be_trained_says_how_to_use_it_as_it_is(folder: Path) -> None:
    with pytest.raises(attnx.UsageError, match="or use it as it is with --train epochs=0"):
        attnx.explain(f"hf-classifier:checkpoint={folder}", TEXTS[0], progress=False)
