"""A classifier trained on raw texts predicts here what it predicts in its owner's pipeline.

Its owner trains a small RoBERTa on ends of raw IMDB reviews; 600 others are then read by both.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    pipeline,
)

from attnx.data.loading import load_data
from attnx.plugin import Source
from attnx.request.spec import Limit
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.run.measuring.splits import Split, batches
from attnx.testing.toy import ToySoftmax
from attnx_texts.options import JsonlOptions
from attnx_texts.own_files import JsonlFiles
from attnx_texts.preprocessing import WordSplitter
from attnx_transformers.checkpoints import quiet
from attnx_transformers.classifier import HfClassifier
from attnx_transformers.options import HfClassifierOptions

SHARED = Path(os.environ.get("ATTNX_SHARED", Path(__file__).parents[3].parent / "shared"))
REVIEWS = SHARED / "data" / "imdb" / "test.jsonl.gz"
LEARNT, READ, CHARACTERS = 5000, 600, 200
NAMES = ("negative", "positive")

Review = tuple[str, int]


def review_ends(count: int) -> list[Review]:
    """Ends of reviews with their labels, as many of each label."""
    with gzip.open(REVIEWS, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    ends = [(row["text"][-CHARACTERS:].partition(" ")[2], int(row["label"])) for row in rows]
    order = np.random.default_rng(0).permutation(len(ends))[:count]
    return [ends[row] for row in order]


def train_owner(reviews: Sequence[Review], folder: Path) -> None:
    """A byte-level RoBERTa of two layers, trained on texts as they are."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=6000, special_tokens=special, initial_alphabet=alphabet)
    made.train_from_iterator([text for text, _ in reviews], trainer)
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", unk_token="<unk>", model_max_length=128
    )
    torch.manual_seed(0)
    model: Any = RobertaForSequenceClassification(
        RobertaConfig(
            vocab_size=6000,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            max_position_embeddings=130,
            pad_token_id=1,
            id2label=dict(enumerate(NAMES)),
            label2id={name: number for number, name in enumerate(NAMES)},
        )
    )
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model.train()
    for epoch in range(3):
        order = np.random.default_rng(epoch).permutation(len(reviews))
        for start in range(0, len(reviews), 64):
            part = [reviews[row] for row in order[start : start + 64]]
            inputs = tokenizer([text for text, _ in part], padding=True, truncation=True, return_tensors="pt")
            inputs.pop("token_type_ids", None)
            loss = model(**inputs, labels=torch.tensor([label for _, label in part])).loss
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    with quiet():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def owners_predictions(folder: Path, texts: Sequence[str]) -> list[int]:
    with quiet():
        ask = pipeline("text-classification", str(folder), truncation=True)
        return [NAMES.index(answer["label"]) for answer in ask(list(texts))]


def our_predictions(folder: Path, reviews: Sequence[Review], tmp_path: Path) -> list[int]:
    path = tmp_path / "read.jsonl"
    rows = ({"text": text, "label": NAMES[label]} for text, label in reviews)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    task = JsonlFiles(JsonlOptions(train=path, dev=path, test=path))
    data = load_data(task, Source(), Limit(), raw_text=True)
    model = HfClassifier.build(data, ToySoftmax(), HfClassifierOptions(checkpoint=str(folder))).eval()
    found = torch.zeros(len(reviews), dtype=torch.long)
    with evaluating(model):
        for rows_, batch in batches(Split(model, data.test, torch.device("cpu"))):
            found[rows_] = trace_of(model, batch).predicted
    return found.tolist()


def flips(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


@pytest.mark.slow
@pytest.mark.skipif(not REVIEWS.exists(), reason="the raw IMDB reviews are not on this machine")
def test_no_prediction_of_600_is_another_than_the_owners(tmp_path: Path) -> None:
    reviews = review_ends(LEARNT + READ)
    learnt, read = reviews[:LEARNT], reviews[LEARNT:]
    folder = tmp_path / "owner"
    train_owner(learnt, folder)
    owner = owners_predictions(folder, [text for text, _ in read])
    ours = our_predictions(folder, read, tmp_path)
    splitter = WordSplitter("words", digits="keep")
    as_words = owners_predictions(folder, [" ".join(splitter.split(text)) for text, _ in read])
    accuracy = np.mean([guess == label for guess, (_, label) in zip(owner, read, strict=True)])
    print(f"accuracy {accuracy:.3f}, flips {flips(ours, owner)}, as words {flips(as_words, owner)}")
    assert accuracy > 0.65
    assert flips(ours, owner) == 0
    assert flips(as_words, owner) > 30  # what lower-cased words joined by spaces would change
