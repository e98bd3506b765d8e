"""Pipelines and classifiers in memory: what attnx predicts is what their owner's pipeline predicts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tiny_checkpoints import WORDS, tokenizer
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    TextClassificationPipeline,
)

import attnx
from attnx_transformers.checkpoints import quiet

TEXTS = [f"{a} {b} {a}{b}" for a in WORDS[:5] for b in WORDS[5:]]


def classifier(names=("down", "level", "up"), **settings):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=24, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=32, id2label=dict(enumerate(names)),
        label2id={name: number for number, name in enumerate(names)}, **settings,
    )  # fmt: skip
    return BertForSequenceClassification(config).eval()


def pipeline(model):
    return TextClassificationPipeline(model=model, tokenizer=tokenizer(), top_k=None)


def probabilities(pipe, names):
    with quiet():
        answers = pipe(TEXTS)
    return np.array([[{a["label"]: a["score"] for a in row}[name] for name in names] for row in answers])


@pytest.mark.parametrize("form", ["pipeline", "pair"])
def test_predictions_are_those_of_the_pipeline_with_all_its_classes(form):
    model = classifier()
    pipe = pipeline(model)
    labels = ["up", "down"] * (len(TEXTS) // 2) + ["up"] * (len(TEXTS) % 2)  # one class never occurs
    given = pipe if form == "pipeline" else (model, pipe.tokenizer)
    report = attnx.evaluate((TEXTS, labels), given, metrics="none", progress=False)
    examples = report.examples()
    assert examples.label_names == ("down", "level", "up")
    order = [TEXTS.index(" ".join(e.units)) for e in examples]
    np.testing.assert_allclose(
        examples.probabilities[0], probabilities(pipe, examples.label_names)[order], atol=1e-5
    )


def test_the_callers_objects_stay_as_they_are():
    model = classifier()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    attnx.evaluate((TEXTS, ["up"] * len(TEXTS)), pipeline(model), metrics="none", progress=False)
    assert not model.training
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])


def test_attention_of_a_chosen_layer_is_tested():
    given = (pipeline(classifier()), {"layer": 0, "head": 1})
    labels = ["up", "down"] * (len(TEXTS) // 2) + ["up"] * (len(TEXTS) % 2)
    report = attnx.evaluate((TEXTS, labels), given, metrics="kendall", references="loo", progress=False)
    assert {s.explanation for s in report.summaries} == {"attention"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: classifier(), "does not say how it reads texts: give a text-classification pipeline"),
        (lambda: (BertModel(classifier().config), tokenizer()), "is not a sequence classifier"),
        (lambda: (classifier(names=("only",)), tokenizer()), "num_labels=1"),
        (
            lambda: (classifier(problem_type="multi_label_classification"), tokenizer()),
            "multi_label_classification",
        ),
    ],
    ids=["model alone", "no classifier", "regression", "several labels"],
)
def test_what_is_not_a_classifier_of_texts_is_refused_in_one_line(given, message):
    with pytest.raises(attnx.UsageError, match=message):
        attnx.evaluate((TEXTS, ["up"] * len(TEXTS)), given(), metrics="none", progress=False)


def test_labels_that_the_model_does_not_know_are_refused():
    with pytest.raises(attnx.UsageError, match=r"classes 'down', 'level', 'up'.*labels 'left', 'right'"):
        attnx.evaluate((TEXTS, ["left", "right"] * 12 + ["left"]), pipeline(classifier()), progress=False)


def test_a_named_checkpoint_without_training_has_all_classes_of_its_own(tmp_path):
    pipe = pipeline(classifier())
    with quiet():
        pipe.save_pretrained(tmp_path)
    file = tmp_path / "held.csv"
    file.write_text("text,label\n" + "".join(f"{text},up\n" for text in TEXTS[:20]))
    report = attnx.evaluate(
        f"csv:test={file}",
        f"hf-classifier:checkpoint={tmp_path}",
        training={"epochs": 0},
        metrics="none",
        progress=False,
    )
    examples = report.examples()
    assert examples.label_names == ("down", "level", "up")
    assert len(examples) == 20
    np.testing.assert_allclose(
        examples.probabilities[0], probabilities(pipe, examples.label_names)[:20], atol=1e-5
    )
