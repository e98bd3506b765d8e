"""Metrics that explain again, or compare activations, on words that a tokenizer cuts into pieces."""

from __future__ import annotations

from pathlib import Path

import transformers
from tiny_checkpoints import SENTENCES, save

import attnx

METRICS = (
    "max-sensitivity:draws=2",
    "parameter-randomisation:draws=1",
    "in-distribution",
    "soft-sufficiency:draws=1",
)


def test_shorter_inputs_have_fewer_pieces_and_are_measured_too(home: Path, tmp_path: Path) -> None:
    folder = save("classifier", tmp_path / "classifier")
    pipeline = transformers.pipeline("text-classification", model=str(folder))
    texts = [text for text in SENTENCES if " " in text]
    labels = [str(pipeline.model.config.id2label[n % 2]) for n in range(len(texts))]
    report = attnx.evaluate((texts, labels), pipeline, explanations="loo", metrics=METRICS, progress=False)
    found = {s.measure: s for s in report.summaries if s.explanation == "loo" and s.predicted is None}
    assert found["max-sensitivity"].n == len(texts)
    assert 0 < found["max-sensitivity"].mean < 5
    assert found["smoothed-similarity"].n == len(texts)
    assert found["unlikely-only-top"].n == len(texts)
