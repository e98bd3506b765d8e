"""Explanations made of layers, against loops over what a stock classifier shows of each sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from stock import Array, Stock, ask_stock
from test_models import make
from tiny_checkpoints import SENTENCES, data

from attnx.plugin import ImportanceMethod, UsageError
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import Named, attribute, trace_of
from attnx.testing.model_laws import by_unit
from attnx_transformers.attention_norm import AttentionNorm
from attnx_transformers.cls_attention import ClsAttention
from attnx_transformers.gradient_rollout import GradientRollout
from attnx_transformers.options import AttentionNormOptions, ClsAttentionOptions, LayerOptions
from attnx_transformers.rollout import Rollout


def rollout(stock: Stock, query: int = 0) -> Array:
    joined = np.eye(len(stock.words))
    for a in stock.attentions:
        mixed = 0.5 * a.mean(0) + 0.5 * np.eye(len(stock.words))
        joined = (mixed / mixed.sum(1, keepdims=True)) @ joined
    return joined[query]


def gradient_rollout(stock: Stock) -> Array:
    relevance = np.eye(len(stock.words))
    for a, g in zip(stock.attentions, stock.gradients, strict=True):
        relevance = relevance + np.maximum(a * g, 0).mean(0) @ relevance
    return relevance[0]


def attention_norm(stock: Stock, layer: int, heads: list[int]) -> Array:
    found = np.zeros(len(stock.words))
    for m in heads:
        for i in range(len(stock.words)):
            found[i] += stock.attentions[layer][m, 0, i] * stock.sizes[layer][m, i]
    return found


def cls_attention(stock: Stock, layer: int, head: int | None, query: int | None) -> Array:
    of_heads = stock.attentions[layer].mean(0) if head is None else stock.attentions[layer][head]
    return of_heads.mean(0) if query is None else of_heads[query]


def shared(values: Array) -> Array:
    return values / values.sum()


EXPECTED: dict[str, tuple[ImportanceMethod, Callable[[Stock], Array]]] = {
    "rollout": (Rollout(LayerOptions()), lambda s: s.by_word(rollout(s))),
    "rollout from the last": (Rollout(LayerOptions(query="last")), lambda s: s.by_word(rollout(s, -1))),
    "rollout to first pieces": (
        Rollout(LayerOptions(pieces="first")),
        lambda s: s.by_word(rollout(s), first=True),
    ),
    "gradient-rollout": (GradientRollout(LayerOptions()), lambda s: s.by_word(gradient_rollout(s))),
    "attention-norm": (
        AttentionNorm(AttentionNormOptions(layer=1)),
        lambda s: s.by_word(attention_norm(s, 1, [0, 1, 2, 3])),
    ),
    "attention-norm of a head": (
        AttentionNorm(AttentionNormOptions(head=2)),
        lambda s: s.by_word(attention_norm(s, -1, [2])),
    ),
    "cls-attention": (
        ClsAttention(ClsAttentionOptions()),
        lambda s: shared(s.by_word(cls_attention(s, -1, None, 0))),
    ),
    "cls-attention of a head": (
        ClsAttention(ClsAttentionOptions(layer=0, head=3, query="last", pieces="first")),
        lambda s: shared(s.by_word(cls_attention(s, 0, 3, -1), first=True)),
    ),
    "cls-attention of all positions": (
        ClsAttention(ClsAttentionOptions(layer=1, query="mean")),
        lambda s: shared(s.by_word(cls_attention(s, 1, None, None))),
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_scores_equal_a_loop_over_what_transformers_shows(name: str, saved: Any) -> None:
    method, expected = EXPECTED[name]
    model = make("classifier", saved("classifier"))
    with evaluating(model):
        trace = trace_of(model, model.encode(data().test))
        found = attribute(Named(name, method), model, trace, trace.predicted)
    assert found.passes == len(SENTENCES)
    for row, sentence in enumerate(SENTENCES):
        values = by_unit(trace.batch, found.values, row).numpy()
        np.testing.assert_allclose(
            values, expected(ask_stock(saved("classifier"), sentence)), atol=1e-5, rtol=1e-4
        )


@pytest.mark.parametrize(
    "options", [{}, {"layer": 0, "head": 1}, {"layer": 1, "query": "mean", "pieces": "first"}]
)
def test_attention_of_a_classifier_is_its_cls_attention(options: dict[str, Any], saved: Any) -> None:
    model = make("classifier", saved("classifier"), **options)
    method = ClsAttention(ClsAttentionOptions(**options))
    with evaluating(model):
        trace = trace_of(model, model.encode(data().test))
        found = attribute(Named("it", method), model, trace, trace.predicted).values
    torch.testing.assert_close(found, trace.attention)


def test_rollout_of_an_encoder_starts_at_the_words_that_pooling_attends_to(saved: Any) -> None:
    """With all attention on one word of one piece, rollout is that of the word's position."""
    model = make("encoder", saved("encoder"))
    model.projection = lambda _, mask: (mask.cumsum(1) == 2).float() * mask  # type: ignore[assignment]
    on = data("five one two", "one two")
    method = Rollout(LayerOptions())
    with evaluating(model):
        trace = trace_of(model, model.encode(on.test))
        layers: Any = model.layers(trace.batch, trace.embeddings)  # type: ignore[attr-defined]
        found = attribute(Named("it", method), model, trace, trace.predicted).values
    for row, words in enumerate((3, 2)):
        size = words + 2
        joined = np.eye(size)
        for weights in layers.weights:
            joined = (weights[row].mean(0)[:size, :size].numpy() + np.eye(size)) / 2 @ joined
        np.testing.assert_allclose(found[row, 1 : words + 1], joined[2, 1 : words + 1], atol=1e-6)


def test_a_layer_or_head_that_is_not_there_is_refused(saved: Any) -> None:
    folder = saved("classifier")
    with pytest.raises(UsageError, match="layer=3: the model has 3 layers, 0 to 2; -1 is the last"):
        make("classifier", folder, layer=3)
    with pytest.raises(UsageError, match="head=4: a layer has 4 heads, 0 to 3"):
        make("classifier", folder, head=4)


@pytest.mark.parametrize("query", ["own", "first", "last", "mean"])
@pytest.mark.parametrize("kind", ["classifier", "distilbert", "encoder", "language-model", "llama"])
def test_one_layer_alone_is_that_layer_of_all(saved: Callable[[str], Any], kind: str, query: Any) -> None:
    model: Any = make(kind, saved(kind))
    methods = [
        ClsAttention(ClsAttentionOptions(layer=1, head=2, query=query)),
        AttentionNorm(AttentionNormOptions(layer=0, query=query)),
    ]
    with evaluating(model):
        trace = trace_of(model, model.encode(data().test))
        alone = [_scores(method, model, trace) for method in methods]
        (weights,) = model.one_layer(trace.batch, trace.embeddings, 1, query).weights
        model.provides = tuple(word for word in model.provides if word != "one-layer")
        of_all = [_scores(method, model, trace) for method in methods]
    for ours, theirs in zip(alone, of_all, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    pooled = kind == "encoder" and query == "own"  # it answers from all words
    assert (weights.shape[2] == 1) == (query != "mean" and not pooled)  # else every pair of positions


def _scores(method: ImportanceMethod, model: Any, trace: Any) -> torch.Tensor:
    return attribute(Named("method", method), model, trace, trace.predicted, seed=0).values
