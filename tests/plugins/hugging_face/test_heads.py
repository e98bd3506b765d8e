"""The study of heads: what it finds for each is what deleting the head's words by hand gives."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_checkpoints import SENTENCES, data

import attnx
from attnx.plugin import UsageError
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx_transformers.causal import HfCausal
from attnx_transformers.heads import _probability_without, _single, scores_of_heads
from attnx_transformers.options import HfCausalOptions


@pytest.fixture
def model(saved: Any) -> HfCausal:
    return HfCausal(data(), HfCausalOptions(checkpoint=str(saved("llama")))).eval()


def test_the_scores_of_a_head_are_the_attention_that_the_model_reads_there(model: HfCausal) -> None:
    with evaluating(model):
        trace = trace_of(model, model.encode(data().test))
        scores, places = scores_of_heads(model, trace)
        assert places == tuple((layer, head) for layer in range(3) for head in range(4))
        for number, (layer, head) in enumerate(places):
            with model.reading(layer, head):
                own = model.run(trace.batch, trace.embeddings).attention
            ours = scores[number] / scores[number].sum(1, keepdim=True)
            torch.testing.assert_close(ours, own, atol=1e-5, rtol=1e-4)
    assert (model.layer, model.head) == (2, "mean")  # as it was


def test_each_set_of_words_is_deleted_as_by_hand(model: HfCausal) -> None:
    texts = [example for example in data().test if len(example.units) > 1]
    with evaluating(model):
        trace = trace_of(model, model.encode(texts))
        p = trace.probabilities.gather(1, trace.predicted[:, None])[:, 0]
        first = trace.batch.mask & (trace.batch.unit_index == 0)
        found = p - _probability_without(model, trace, torch.stack([first, torch.zeros_like(first)]))
        falls = _single(model, trace, p)
        for row, example in enumerate(texts):
            shorter = data(" ".join(example.units[1:])).test
            by_hand = trace_of(model, model.encode(shorter)).probabilities[0, trace.predicted[row]]
            assert float(found[0, row]) == pytest.approx(float(p[row] - by_hand), abs=1e-5)
            assert float(falls[row][first[row]][0]) == pytest.approx(float(p[row] - by_hand), abs=1e-5)
    torch.testing.assert_close(found[1], torch.zeros_like(found[1]), atol=1e-5, rtol=0)


def test_the_best_heads_of_dev_are_reported_on_test(saved: Any, tmp_path: Path) -> None:
    rows = [f"{text},{label}" for text, label in zip(SENTENCES * 2, ("no", "yes") * 6, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    file = tmp_path / "a.csv"
    task = f"csv:train={file},dev={file},test={file}"
    model, nothing = f"hf-causal:checkpoint={saved('llama')}", {"epochs": 0}
    report = attnx.study("heads:texts=12,top=2", task=task, model=model, training=nothing, progress=False)
    share = {row.setting: row for row in report.findings if row.measure == "share of the fall"}
    heads = [
        name.removesuffix(", dev") for name in share if name.startswith("layer") and name.endswith("dev")
    ]
    assert len(heads) == 2
    for name in heads:  # dev is test here, so both shares are the same
        assert share[f"{name}, dev"].mean == pytest.approx(share[f"{name}, test"].mean, abs=0.3)
        assert share[f"{name}, dev"].mean <= 1 + 1e-6
    median = next(row for name, row in share.items() if name.startswith("median of 12 heads"))
    assert median.mean <= min(share[f"{name}, dev"].mean for name in heads)
    replaced = [row for row in report.findings if row.measure == "change when replaced"]
    assert [row.setting for row in replaced] == heads
    assert all(0 <= row.mean <= 1 and not math.isnan(row.mean) for row in replaced)


def test_a_task_without_dev_texts_is_refused(saved: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\none two,no\nfour one,yes\n")
    with pytest.raises(UsageError, match="the task has no dev split"):
        attnx.study(
            "heads",
            task=f"csv:test={tmp_path / 'a.csv'}",
            model=f"hf-causal:checkpoint={saved('llama')}",
            training={"epochs": 0},
            progress=False,
        )
