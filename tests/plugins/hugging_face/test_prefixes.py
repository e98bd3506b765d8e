"""Inputs of a decoder that begin alike: computed together, the same as each by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_checkpoints import SENTENCES, data
from torch import Tensor

from attnx.formulas import Randomness, logits_of_kept
from attnx.plugin import Batch
from attnx.run.measuring.attribution import trace_of
from attnx.run.measuring.contrast import contrast_of
from attnx_erasure.loo import LeaveOneOut
from attnx_erasure.options import LeaveOneOutOptions
from attnx_erasure.removals import Replacing
from attnx_transformers import prefixes
from attnx_transformers.causal import HfCausal
from attnx_transformers.options import HfCausalOptions

Saved = Callable[[str], Path]
TEMPLATES = ("{text} it is", "it is {text}", "is {text} a")  # the last word removed, or the first, or neither
SIZES = (
    (4, 3),
    (4, 20),
    (30, 20),
    (512, 3),
    (512, 128),
)  # a trunk for every text, some, none; short rows or long
ANSWERS: dict[str, dict[str, Any]] = {
    "one piece": {},
    "several pieces": {"labels": ("it is", "a")},
    "their mean": {"labels": ("it is", "a"), "length": "mean"},
    "calibrated": {"calibrate": True},
}


def decoder(saved: Saved, kind: str, template: str = "{text} it is", **settings: Any) -> HfCausal:
    options = HfCausalOptions(checkpoint=str(saved(kind)), template=template, **settings)
    return HfCausal(data(), options).eval()


def parts(batch: Batch) -> tuple[Tensor, Tensor]:
    """Sets of columns that stay, of every text: all but one or two words, or two words alone."""
    rows, kept = [], []
    for row in range(len(batch)):
        used = torch.arange(batch.mask.shape[1]) < batch.lengths[row]
        words = batch.mask[row].nonzero()[:, 0].tolist()
        sets = [set(words) - {a, b} for a in words for b in words] + [set(words[:2])]
        for stay in (stay for stay in sets if stay):
            off = [column for column in words if column not in stay]
            rows.append(row)
            kept.append(used & ~torch.isin(torch.arange(len(used)), torch.tensor(off, dtype=torch.long)))
    return torch.tensor(rows), torch.stack(kept)


def one_by_one(model: HfCausal, batch: Batch, rows: Tensor, kept: Tensor) -> Tensor:
    found = []
    for row, columns in zip(rows, kept, strict=True):
        shorter = batch.keep(row[None], columns.nonzero()[:, 0][None])
        found.append(model.run(shorter, model.embed(shorter)).logits)
    return torch.cat(found)


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("kind", ["language-model", "llama"])
def test_any_parts_of_texts_give_what_each_gives_by_itself(
    saved: Saved, monkeypatch: pytest.MonkeyPatch, kind: str, template: str
) -> None:
    model = decoder(saved, kind, template)
    assert "fast-logits" in model.provides
    batch = model.encode(data(*SENTENCES, *SENTENCES[:1]).test)  # two texts are the same
    with torch.no_grad():
        theirs = one_by_one(model, batch, *parts(batch))
        for nodes, row in SIZES:
            monkeypatch.setattr(prefixes, "NODES", nodes)
            monkeypatch.setattr(prefixes, "ROW", row)
            monkeypatch.setattr(prefixes, "PASS", 8 * row)
            ours = logits_of_kept(model, batch, *parts(batch))
            torch.testing.assert_close(
                ours, theirs, rtol=1e-4, atol=1e-4, msg=f"{nodes} nodes, {row} in a row"
            )
    assert float(theirs.std(0).min()) > 0.1  # parts differ, so a mix-up would show


@pytest.mark.parametrize("answers", ANSWERS)
def test_answers_of_any_kind_are_read(saved: Saved, monkeypatch: pytest.MonkeyPatch, answers: str) -> None:
    monkeypatch.setattr(prefixes, "NODES", 10)
    model = decoder(saved, "llama", **ANSWERS[answers])
    batch = model.encode(data().test)
    with torch.no_grad():
        for asked in (model, model.answering([(5, 6, 7)]), model.answering([(5,), (6, 7)], after=(8,))):
            own = asked.encode(data().test) if asked is not model else batch
            ours, theirs = logits_of_kept(asked, own, *parts(own)), one_by_one(asked, own, *parts(own))
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_every_node_is_computed_once(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder(saved, "llama")
    seen: list[int] = []
    call = prefixes._call

    def counted(network: Any, pieces: Any, *args: Any, **more: Any) -> Any:
        seen.append(sum(map(len, pieces)))
        return call(network, pieces, *args, **more)

    monkeypatch.setattr(prefixes, "_call", counted)
    monkeypatch.setattr(prefixes, "ROW", 10**6)
    monkeypatch.setattr(prefixes, "NODES", 10**6)
    batch = model.encode(data().test)
    rows, kept = parts(batch)
    with torch.no_grad():
        logits_of_kept(model, batch, rows, kept)
    texts = [
        prefixes.rows_of(batch.keep(row[None], columns.nonzero()[:, 0][None]))[0]
        for row, columns in zip(rows, kept, strict=True)
    ]
    beginnings = {text[:end] for text in texts for end in range(1, len(text) + 1)}
    assert seen == [len(beginnings)]
    assert len(beginnings) < sum(map(len, texts)) / 2


def test_replaced_words_and_contrasts_take_the_same_way(
    saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = decoder(saved, "language-model")
    texts = data().test
    with torch.no_grad():
        trace = trace_of(model, model.encode(texts))
        rows, kept = parts(trace.batch)
        used = torch.arange(kept.shape[1]) < trace.batch.lengths[rows][:, None]
        found = []
        for fast in (True, False):
            if not fast:
                model.provides = tuple(word for word in model.provides if word != "fast-logits")
                monkeypatch.setattr(HfCausal, "logits_of", lambda *_: pytest.fail("states are shared"))
            removal = Replacing.of(model, trace.batch, trace.predicted, texts, Randomness(0), 2)
            contrast = contrast_of(model, 1, 0)
            loo = LeaveOneOut(LeaveOneOutOptions())(model, trace, trace.predicted, Randomness(0))
            probabilities = removal.probabilities(rows, used & ~kept, (0, 1))
            found.append((probabilities, loo, logits_of_kept(contrast, trace.batch, rows, kept)))
    for fast_way, slow_way in zip(*found, strict=True):
        torch.testing.assert_close(fast_way, slow_way, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("fault", ["another result", "an error"])
def test_a_decoder_that_cannot_share_states_computes_whole_texts(
    saved: Saved, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    def broken(tree: prefixes.Tree) -> Tensor:
        if fault == "an error":
            raise NotImplementedError("no mask of this form")
        return torch.ones(len(tree), len(tree.trunk.pieces) + len(tree), dtype=torch.bool).tril()

    monkeypatch.setattr(prefixes.Tree, "sees", broken)
    assert "fast-logits" not in decoder(saved, "llama").provides


def test_layers_that_see_less_than_a_text_share_nothing(
    saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = decoder(saved, "llama")
    config = model.network.transformer.config
    monkeypatch.setattr(config, "sliding_window", 16, raising=False)
    assert not prefixes.can_share(model.network)
    monkeypatch.setattr(config, "sliding_window", 32, raising=False)
    assert prefixes.can_share(model.network)
