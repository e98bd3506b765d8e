"""The output of many inputs by itself is the output of whole passes over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_checkpoints import data, save

from attnx.formulas import logits_of_batches, logits_of_kept
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import counted_passes
from attnx_transformers import packing, taps
from attnx_transformers.classifier import HfClassifier
from attnx_transformers.options import HfClassifierOptions

CASES: list[tuple[str, dict[str, Any]]] = [
    ("classifier", {}),
    ("classifier", {"layer": 0, "query": "mean"}),
    ("classifier", {"layer": -1, "query": "last"}),
    ("classifier", {"attention": "none"}),
    ("classifier", {"longest": 8, "overlap": 1}),
    ("roberta", {}),
    ("distilbert", {}),
    ("albert", {}),
    ("decoder-classifier", {}),
]


def classifier(kind: str, folder: Path, **options: Any) -> HfClassifier:
    return HfClassifier(data(), HfClassifierOptions(checkpoint=str(save(kind, folder)), **options)).eval()


@pytest.mark.parametrize(("kind", "options"), CASES, ids=str)
def test_they_are_those_of_whole_passes(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    model = classifier(kind, tmp_path, **options)
    texts = data().test
    batches = [model.encode(texts), model.encode(texts[:1]), model.encode(texts[2:4])]
    with evaluating(model):
        found = list(logits_of_batches(model, batches))
        whole = [model.run(batch, model.embed(batch)).logits for batch in batches]
    assert len(found) == len(whole)
    between = float((whole[0][0] - whole[0][1]).abs().max())  # texts
    assert between > 0
    for ours, theirs in zip(found, whole, strict=True):
        torch.testing.assert_close(ours, theirs, atol=0.01 * min(between, 0.01), rtol=1e-4)


def test_deletions_read_no_attention(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = classifier("classifier", tmp_path)
    batch = model.encode(data().test)
    rows, columns = batch.mask.nonzero(as_tuple=True)
    several = batch.mask.sum(1)[rows] > 1
    rows, columns = rows[several], columns[several]
    used = torch.arange(batch.mask.shape[1]) < batch.lengths[:, None]
    kept = used[rows]
    kept[torch.arange(len(rows)), columns] = False
    with evaluating(model):
        whole = [
            model.run(one, model.embed(one)).logits[0]
            for one in (batch.keep(row[None], keep.nonzero().T) for row, keep in zip(rows, kept, strict=True))
        ]
        monkeypatch.setattr(taps, "_weights_of_rows", None)  # calling it fails
        with counted_passes(model) as passes:
            found = logits_of_kept(model, batch, rows, kept)
        with pytest.raises(TypeError):
            model.run(batch, model.embed(batch))
    assert passes.count == len(rows)
    torch.testing.assert_close(found, torch.stack(whole), atol=2e-5, rtol=2e-4)


@pytest.mark.parametrize(("rows", "sizes"), [(10, {10}), (11, {5, 6}), (25, {7, 9}), (1, {1})])
def test_passes_are_of_about_the_same_size(
    rows: int, sizes: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = classifier("classifier", tmp_path)
    batch = model.encode([data().test[0]] * rows)
    packed, _ = model.network.packed(batch)
    monkeypatch.setattr(packing, "IN_CACHE", 10 * packed.used.shape[1])
    groups = packed.passes()
    assert {len(group) for group in groups} <= sizes
    assert torch.equal(torch.cat(groups), torch.arange(rows))
