"""A decoder without each word: from the states before it, the same as from the whole shortened text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_checkpoints import SENTENCES, data, save

from attnx.formulas import Randomness
from attnx.run.measuring.attribution import trace_of
from attnx_erasure.deletion import logits_without_each
from attnx_erasure.loo import LeaveOneOut
from attnx_erasure.options import LeaveOneOutOptions
from attnx_transformers import prefixes
from attnx_transformers.causal import HfCausal
from attnx_transformers.options import HfCausalOptions

TEMPLATES = ("{text} it is", "it is {text}", "is {text} a")  # the last word removed, or the first, or neither


def decoder(folder: Path, kind: str, template: str = "{text} it is", **settings: Any) -> HfCausal:
    path = save(kind, folder / kind)
    return HfCausal(data(), HfCausalOptions(checkpoint=str(path), template=template, **settings)).eval()


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("kind", ["language-model", "llama"])
def test_states_before_a_word_give_what_the_whole_text_gives(
    tmp_path: Path, kind: str, template: str
) -> None:
    model = decoder(tmp_path, kind, template)
    assert "fast-deletion" in model.provides
    with torch.no_grad():
        trace = trace_of(model, model.encode(data().test))  # one text is a single word
        ours, whole = model.without_each(trace), logits_without_each(model, trace)
    torch.testing.assert_close(ours, whole, rtol=1e-4, atol=1e-4)
    several = trace.batch.mask & (trace.batch.mask.sum(1, keepdim=True) > 1)
    moved = (ours - trace.logits[:, None]).abs().amax(-1)
    assert bool((moved[several] > 1e-3).all())  # each word matters, so nothing was left as it was


def test_passes_of_any_size_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder(tmp_path, "llama")
    with torch.no_grad():
        trace = trace_of(model, model.encode(data(*SENTENCES * 3).test))
        once = model.without_each(trace)
        monkeypatch.setattr(prefixes, "IN_CACHE", 5)
        monkeypatch.setattr("attnx_transformers.packing.IN_CACHE", 20)
        torch.testing.assert_close(model.without_each(trace), once, rtol=1e-4, atol=1e-4)


def test_leave_one_out_reads_states_again_and_scores_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = decoder(tmp_path, "language-model", attention="none")
    asked = (LeaveOneOut(LeaveOneOutOptions()), Randomness(0))
    with torch.no_grad():
        trace = trace_of(model, model.encode(data().test))
        fast = asked[0](model, trace, trace.predicted, asked[1])
        model.provides = tuple(word for word in model.provides if word != "fast-deletion")
        monkeypatch.setattr(HfCausal, "without_each", lambda *_: pytest.fail("states read again"))
        slow = asked[0](model, trace, trace.predicted, asked[1])
    torch.testing.assert_close(fast, slow, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("fault", ["another result", "an error"])
def test_a_decoder_that_cannot_read_them_again_computes_whole_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    shortened = prefixes._shortened

    def broken(*args: Any) -> Any:
        if fault == "an error":
            raise NotImplementedError("no cache")
        output, used = shortened(*args)
        output.logits = output.logits + 0.1
        return output, used

    monkeypatch.setattr(prefixes, "_shortened", broken)
    assert "fast-deletion" not in decoder(tmp_path, "llama").provides


def test_layers_that_see_less_than_a_text_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = decoder(tmp_path, "llama")
    config = model.network.transformer.config
    monkeypatch.setattr(config, "sliding_window", 16, raising=False)
    assert not prefixes.can_reuse(model.network, model.logits)
    monkeypatch.setattr(config, "sliding_window", 32, raising=False)
    assert prefixes.can_reuse(model.network, model.logits)
