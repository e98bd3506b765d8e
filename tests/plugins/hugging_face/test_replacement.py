"""Attention of one layer of a transformer, replaced."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from test_models import make
from tiny_checkpoints import SENTENCES, data, tokenizer
from torch import Tensor
from transformers import AutoModelForSequenceClassification
from transformers.models.bert import modeling_bert

from attnx.plugin import Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx_transformers.packing import Packing, positions_asked
from attnx_transformers.reading import Reading


def random_attention(trace: Trace, seed: int = 0) -> Tensor:
    torch.manual_seed(seed)
    mask = trace.batch.mask
    return torch.randn(mask.shape).mul(2).masked_fill(~mask, -torch.inf).softmax(-1)


def traced(model: Any) -> Trace:
    with evaluating(model):
        return trace_of(model, model.encode(data().test))


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_one_head_attends_as_told_in_a_stock_model_too(layer: int, saved: Any, monkeypatch: Any) -> None:
    """The same weights written into the library's own attention function give the same logits."""
    model = make("classifier", saved("classifier"), layer=layer, head=1)
    trace = traced(model)
    wanted = random_attention(trace)
    with evaluating(model):
        ours = model.reattend(trace, wanted)
    stock: Any = AutoModelForSequenceClassification.from_pretrained(
        saved("classifier"), attn_implementation="eager"
    )
    eager = modeling_bert.eager_attention_forward
    for row, sentence in enumerate(SENTENCES):
        inputs = tokenizer()(sentence, return_tensors="pt")
        words = inputs.word_ids()
        calls = []

        def tampered(module, query, key, value, mask, words=words, calls=calls, row=row, **more):  # type: ignore[no-untyped-def]
            output, weights = eager(module, query, key, value, mask, **more)
            calls.append(module)
            if len(calls) - 1 == layer:
                weights = weights.clone()
                cls = weights[0, 1, 0]
                on_words = sum(cls[i] for i, word in enumerate(words) if word is not None)
                totals = [
                    sum(cls[i] for i, word in enumerate(words) if word == unit)
                    for unit in range(1 + max(word for word in words if word is not None))
                ]
                for i, word in enumerate(words):
                    if word is not None:
                        cls[i] = on_words * wanted[row, word + 1] * cls[i] / totals[word]
                output = (weights @ value).transpose(1, 2).contiguous()
            return output, weights

        monkeypatch.setattr(modeling_bert, "eager_attention_forward", tampered)
        with torch.no_grad():
            expected = stock.eval()(**inputs).logits[0]
        monkeypatch.setattr(modeling_bert, "eager_attention_forward", eager)
        torch.testing.assert_close(ours[row], expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("head", ["mean", 2])
@pytest.mark.parametrize("query", ["first", "mean"])
@pytest.mark.parametrize("pieces", ["sum", "first"])
def test_replaced_rows_stay_on_the_simplex_and_others_as_they_were(
    head: Any, query: Any, pieces: Any, saved: Any
) -> None:
    model: Any = make("classifier", saved("classifier"))
    trace = traced(model)
    with evaluating(model):
        weights = model.layers(trace.batch, trace.embeddings).weights[1]  # [B, M, T, T]
    packing: Packing = model.network.packing(trace.batch, trace.embeddings)
    asked = positions_asked(packing.used, query)
    reading = Reading(packing, trace.batch.mask, asked, head, pieces)
    wanted = random_attention(trace)
    new = reading.replaced(weights, wanted)
    torch.testing.assert_close(new.sum(-1), weights.sum(-1))
    assert bool((new >= 0).all())
    changed = (new != weights).any(-1)  # [B, M, T]
    assert bool(changed.any())
    assert not bool(changed[(asked == 0)[:, None].expand_as(changed)].any())
    if head != "mean":
        assert not bool(changed[:, [m for m in range(4) if m != head]].any())
    special = ~trace.batch.mask.gather(1, packing.column.clamp_min(0))  # [B, T]
    untouched = special[:, None, None].expand_as(new)
    torch.testing.assert_close(new[untouched], weights[untouched])
    torch.testing.assert_close(reading.replaced(weights, reading.attention(weights)), weights)
    single = torch.nn.functional.one_hot(wanted.argmax(1), wanted.shape[1]).float()
    torch.testing.assert_close(reading.attention(reading.replaced(weights, single)), single)
    if head != "mean" and query == "first":
        torch.testing.assert_close(reading.attention(new), wanted)
    else:  # nearer than it was, and not exactly there
        distance = (reading.attention(new) - wanted).abs().sum(1)
        before = (reading.attention(weights) - wanted).abs().sum(1)
        assert bool((distance <= before + 1e-6).all())


def test_weight_that_vanished_can_be_given_again(saved: Any) -> None:
    """A row whose weight on a word is exactly 0 still attends to it when told so."""
    model: Any = make("classifier", saved("classifier"), head=0)
    trace = traced(model)
    packing: Packing = model.network.packing(trace.batch, trace.embeddings)
    weights = torch.zeros(len(SENTENCES), 4, *[packing.used.shape[1]] * 2)
    weights[..., 1] = 1.0  # all on the first word's first piece
    wanted = trace.batch.mask / trace.batch.mask.sum(1, keepdim=True)
    for head in (0, "mean"):
        reading = Reading(packing, trace.batch.mask, positions_asked(packing.used, "first"), head, "sum")
        torch.testing.assert_close(
            reading.attention(reading.replaced(weights, wanted)), wanted if head == 0 else trace_first(wanted)
        )


def trace_first(wanted: Tensor) -> Tensor:
    """What rows that can only be tilted give: all of it on the one word they know."""
    return torch.nn.functional.one_hot(torch.ones(len(wanted), dtype=torch.long), wanted.shape[1]).float()


def test_nothing_is_left_on_the_model_when_it_fails(saved: Any, monkeypatch: Any) -> None:
    model: Any = make("classifier", saved("classifier"), layer=1)
    trace = traced(model)

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(modeling_bert.BertPooler, "forward", fail)
    for attempt in (
        lambda: model.run(trace.batch, trace.embeddings),
        lambda: model.reattend(trace, trace.attention),
        lambda: model.layers(trace.batch, trace.embeddings),
    ):
        with pytest.raises(RuntimeError, match="on purpose"):
            attempt()
        for module in model.modules():
            assert not module._forward_pre_hooks
            assert not module._forward_hooks
            assert not {"forward", "_attnx_taps"} & module.__dict__.keys()


def test_alternatives_are_run_a_few_at_a_time(saved: Any, monkeypatch: Any) -> None:
    import attnx_transformers.reader as reader

    model = make("classifier", saved("classifier"), layer=1)
    trace = traced(model)
    several = torch.stack([random_attention(trace, seed) for seed in range(5)], 1)
    with evaluating(model):
        together = model.reattend(trace, several)
        monkeypatch.setattr(reader, "passes_at_once", lambda _: 2 * len(SENTENCES))
        torch.testing.assert_close(model.reattend(trace, several), together)


def test_weights_of_one_position_are_a_row_of_all_weights(saved: Any) -> None:
    """The attention that is read alone is that of the whole square, for decoders and encoders, padded too."""
    for kind in ("llama", "language-model", "classifier", "decoder-classifier"):
        model: Any = make(kind, saved(kind))
        batch = model.encode(data().test)
        with evaluating(model):
            trace = trace_of(model, batch)
            layers = model.layers(batch, trace.embeddings)
            whole = layers.weights[model.layer].mean(1)  # [B, T, T]
            row = torch.einsum("bq,bqi->bi", layers.query, whole)
            words = torch.zeros_like(trace.attention).scatter_add(
                1, layers.column.clamp_min(0), row.masked_fill(layers.column < 0, 0.0)
            )
            words = words.masked_fill(~batch.mask, 0.0)
        torch.testing.assert_close(trace.attention, words / words.sum(1, keepdim=True), atol=1e-5, rtol=1e-4)
