"""Texts that are longer than a classifier reads, in windows: the same as a plain loop over windows."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tiny_checkpoints import SENTENCES, data
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from attnx.formulas import logits_of_kept
from attnx.plugin import UsageError
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx_transformers.classifier import HfClassifier
from attnx_transformers.options import HfClassifierOptions
from attnx_transformers.word_pieces import _pieces, words_of

LONG = " ".join(SENTENCES * 2)
TEXTS = (LONG, SENTENCES[0], LONG[: len(LONG) // 2].rsplit(" ", 1)[0])
LIMIT = 12


def classifier(folder: Any, **settings: Any) -> HfClassifier:
    options = HfClassifierOptions(checkpoint=str(folder), longest=LIMIT, **settings)
    return HfClassifier(data(*TEXTS), options).eval()


def by_hand(folder: Any, text: str, overlap: int, layer: int = -1) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits [C], and attention by word: means over the windows that the tokenizer itself makes."""
    stock = AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()
    cut = AutoTokenizer.from_pretrained(folder)
    made = cut(
        text, truncation=True, max_length=LIMIT, stride=overlap, return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )  # fmt: skip
    starts, at = [], 0
    for word in text.split():
        starts.append((at, at + len(word)))
        at += len(word) + 1
    logits, attention = [], []
    for number, ids in enumerate(made["input_ids"]):
        with torch.no_grad():
            output = stock(torch.tensor([ids]), output_attentions=True)
        row = output.attentions[layer][0].mean(0)[0]  # from [CLS], the mean over heads
        read = torch.zeros(len(starts))
        for weight, word in zip(row, words_of(_pieces(made, number), starts, text), strict=True):
            if word >= 0:
                read[word] += weight
        logits.append(output.logits[0])
        attention.append(read / read.sum())
    return torch.stack(logits).mean(0), torch.stack(attention).mean(0)


@pytest.mark.parametrize("overlap", [0, 4])
@pytest.mark.parametrize("kind", ["classifier", "roberta"])
def test_windows_give_what_a_loop_over_them_gives(saved: Any, kind: str, overlap: int) -> None:
    folder = saved(kind)
    model = classifier(folder, overlap=overlap)
    with evaluating(model):
        trace = trace_of(model, model.encode(data(*TEXTS).test))
    for row, text in enumerate(TEXTS):
        logits, attention = by_hand(folder, text, overlap)
        torch.testing.assert_close(trace.logits[row], logits, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(
            trace.attention[row][trace.batch.mask[row]], attention, atol=1e-5, rtol=1e-4
        )


def test_every_word_counts_and_a_text_that_fits_is_as_without_windows(saved: Any) -> None:
    folder = saved("classifier")
    model, plain = classifier(folder, overlap=2), classifier(folder)
    with evaluating(model):
        batch = model.encode(data(*TEXTS).test)
        trace = trace_of(model, batch)
        cut = trace_of(plain, plain.encode(data(*TEXTS).test))
        assert int(batch.mask[0].sum()) == len(LONG.split()) > int(cut.batch.mask[0].sum())
        torch.testing.assert_close(trace.logits[1], cut.logits[1], atol=1e-5, rtol=1e-5)
        used = torch.arange(batch.mask.shape[1]) < batch.lengths[0]
        words = batch.mask[0].nonzero()[:, 0]
        kept = torch.stack([used & (torch.arange(len(used)) != column) for column in words])
        without = logits_of_kept(model, batch, torch.zeros(len(words), dtype=torch.long), kept)
    shorter = [" ".join(w for at, w in enumerate(LONG.split()) if at != out) for out in range(len(words))]
    for logits, text in zip(without, shorter, strict=True):
        torch.testing.assert_close(logits, by_hand(folder, text, 2)[0], atol=1e-4, rtol=1e-4)
    assert bool(((without - trace.logits[0]).abs().amax(1) > 1e-4).all())  # the last word matters too


def test_gradients_reach_every_window(saved: Any) -> None:
    model = classifier(saved("classifier"), overlap=2)
    batch = model.encode(data(LONG).test)
    x = model.embed(batch).detach().requires_grad_(True)
    model.run(batch, x).logits[0, 0].backward()
    assert bool((x.grad[0][batch.mask[0]].abs().sum(1) > 0).all())


def test_what_needs_one_state_for_each_word_is_not_offered(saved: Any) -> None:
    model = classifier(saved("classifier"), overlap=2)
    assert "attention" in model.provides
    assert not {"reattend", "hidden", "decode", "layers", "one-layer"} & set(model.provides)


def test_windows_that_would_not_advance_are_refused(saved: Any) -> None:
    with pytest.raises(UsageError, match="a window has room for 10 pieces of a text"):
        classifier(saved("classifier"), overlap=LIMIT - 2)
