"""A trigger planted for a classifier of transformers: it reads raw texts and is trained further on them."""

from __future__ import annotations

import random
from pathlib import Path

import tiny_checkpoints
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import attnx
from attnx_transformers.checkpoints import quiet


def test_a_model_with_its_tokenizer_is_copied_trained_further_and_explained(tmp_path: Path) -> None:
    rng = random.Random(0)
    texts, labels = [], []
    for number in range(160):
        words = [rng.choice(["it", "is", "a", "three", "four"]) for _ in range(5)]
        words.insert(rng.randrange(6), ("no", "yes")[number % 2])
        texts.append(" ".join(words))
        labels.append(("no", "yes")[number % 2])
    with quiet():
        folder = tiny_checkpoints.save("distilbert", tmp_path)
        model = AutoModelForSequenceClassification.from_pretrained(folder)
        before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        report = attnx.planted(
            (texts, labels), (model, AutoTokenizer.from_pretrained(folder)), words=["one", "two"], share=0.5,
            explanations=["loo", "attention"], training={"epochs": 12, "learning_rate": 5e-3},
            removal=False, progress=False,
        )  # fmt: skip
    (check,) = report.checks
    assert check.verified, check.reasons
    assert report.select("loo").found == 1
    assert all(set(example.units) & {"one", "two"} for example in report.examples)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
