"""Encoders and scorers of text against independent computations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from text_building import build, read
from torch import nn

from attnx.formulas.scorers import make_scorer
from attnx.plugin import UsageError
from attnx.testing import toy_data
from attnx_encoders.encoders import Bidirectional, Convolutions, Encoder, Unitwise
from attnx_encoders.options import CnnOptions
from attnx_encoders.self_attention import SelfAttention, positions


@pytest.mark.parametrize("query", [False, True])
def test_additive_scores_are_v_tanh_of_the_sum(query: bool) -> None:
    scorer: Any = _scorer("additive", query)
    h, q = torch.randn(3, 5, 8), torch.randn(3, 8)
    inner = h @ scorer.state.weight.T + scorer.state.bias
    if query:
        inner = inner + (q @ scorer.query.weight.T)[:, None]
    expected = torch.tanh(inner) @ scorer.v.weight[0]
    torch.testing.assert_close(scorer(h, q if query else None), expected, atol=1e-6, rtol=1e-5)
    assert scorer.v.weight.shape == (1, 4)
    assert scorer.v.bias is None


@pytest.mark.parametrize("query", [False, True])
def test_dot_scores_are_scaled_products(query: bool) -> None:
    scorer: Any = _scorer("dot", query)
    h, q = torch.randn(3, 5, 8), torch.randn(3, 8)
    against = q if query else scorer.vector.expand(3, 8)
    expected = torch.stack([h[b] @ against[b] for b in range(3)]) / np.sqrt(8)
    torch.testing.assert_close(scorer(h, q if query else None), expected)


@pytest.mark.parametrize("query", [False, True])
def test_deep_scores_are_a_stack_of_relu_layers(query: bool) -> None:
    scorer: Any = _scorer("deep", query, layers=3)
    h, q = torch.randn(3, 5, 8), torch.randn(3, 8)
    x = h @ scorer.state.weight.T + scorer.state.bias
    if query:
        x = x + (q @ scorer.query.weight.T)[:, None]
    for layer in scorer.layers:
        x = x.relu() @ layer.weight.T + layer.bias
    assert len(scorer.layers) == 2
    expected = (x.relu() @ scorer.last.weight.T)[..., 0]
    torch.testing.assert_close(scorer(h, q if query else None), expected)


def _scorer(name: Any, query: bool, **options: Any) -> nn.Module:
    torch.manual_seed(1)
    return make_scorer(name, 8, query, **options)


@pytest.mark.parametrize(("kind", "lengths"), [("LSTM", [9, 4, 1, 7]), ("GRU", [3, 3, 8])])
def test_bidirectional_equals_a_packed_layer(kind: str, lengths: list[int]) -> None:
    torch.manual_seed(0)
    encoder = Bidirectional(getattr(nn, kind), 6, 5)
    packed_layer = getattr(nn, kind)(6, 5, batch_first=True, bidirectional=True)
    back = {f"{name}_reverse": value for name, value in encoder.back.state_dict().items()}
    packed_layer.load_state_dict({**encoder.ahead.state_dict(), **back})
    vectors, n = torch.randn(len(lengths), max(lengths), 6, requires_grad=True), torch.tensor(lengths)
    ours = encoder(vectors, n)
    packed = nn.utils.rnn.pack_padded_sequence(vectors, n, batch_first=True, enforce_sorted=False)
    theirs, _ = nn.utils.rnn.pad_packed_sequence(packed_layer(packed)[0], batch_first=True)
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-6)
    weights = torch.randn_like(theirs)
    gradients = [torch.autograd.grad((states * weights).sum(), vectors)[0] for states in (ours, theirs)]
    torch.testing.assert_close(*gradients, atol=1e-5, rtol=1e-5)


def _encoders() -> Iterator[tuple[str, Encoder]]:
    torch.manual_seed(0)
    yield "lstm", Bidirectional(nn.LSTM, 6, 5)
    yield "gru", Bidirectional(nn.GRU, 6, 5)
    yield "convolutions", Convolutions(6, 12, (1, 3, 5, 7, 15))
    yield "relu", Unitwise(6, 5, nn.ReLU())
    yield "self-attention", SelfAttention(6, 8, layers=2, heads=2, feed_forward=16)


@pytest.mark.parametrize(("name", "encoder"), list(_encoders()), ids=lambda value: str(value)[:14])
def test_states_depend_on_the_text_only_and_not_on_padding(name: str, encoder: Encoder) -> None:
    lengths = torch.tensor([9, 4, 1, 7])
    vectors = torch.randn(4, 9, 6)  # noise beyond the lengths too
    states, summaries = encoder(vectors, lengths), encoder.summary(encoder(vectors, lengths), lengths)
    for row, length in enumerate(lengths.tolist()):
        alone = encoder(vectors[row : row + 1, :length], lengths[row : row + 1])
        torch.testing.assert_close(states[row, :length], alone[0], atol=1e-5, rtol=1e-5)
        assert not states[row, length:].any()
        summary = encoder.summary(alone, lengths[row : row + 1])
        torch.testing.assert_close(summaries[row], summary[0], atol=1e-5, rtol=1e-5)


def test_summary_of_a_recurrent_layer_is_the_last_state_of_each_direction() -> None:
    encoder = Bidirectional(nn.LSTM, 6, 5)
    vectors = torch.randn(1, 4, 6)
    states = encoder(vectors, torch.tensor([4]))
    _, (ahead, _) = encoder.ahead(vectors.transpose(0, 1))
    _, (back, _) = encoder.back(vectors.flip(1).transpose(0, 1))
    expected = torch.cat([ahead[0], back[0]], -1)
    torch.testing.assert_close(encoder.summary(states, torch.tensor([4])), expected)


def test_convolution_is_a_window_around_each_word() -> None:
    encoder = Convolutions(2, 3, (3,))
    vectors = torch.randn(1, 4, 2)
    (layer,) = encoder.filters
    around = torch.cat([torch.zeros(1, 1, 2), vectors, torch.zeros(1, 1, 2)], 1)
    windows = torch.stack([around[0, i : i + 3] for i in range(4)])  # [4, 3, 2]
    expected = (torch.einsum("lke,cek->lc", windows, layer.weight) + layer.bias).relu()
    torch.testing.assert_close(encoder(vectors, torch.tensor([4]))[0], expected)


def test_filters_share_all_channels() -> None:
    encoder = Convolutions(6, 128, (1, 3, 5, 7, 15))
    assert [layer.out_channels for layer in encoder.filters] == [26, 26, 26, 25, 25]
    assert [layer.kernel_size[0] for layer in encoder.filters] == [1, 3, 5, 7, 15]


def test_self_attention_equals_the_layers_of_torch() -> None:
    torch.manual_seed(0)
    ours = SelfAttention(6, 8, layers=1, heads=2, feed_forward=16)
    theirs = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=True)
    layer: Any = ours.layers[0]
    theirs.self_attn.in_proj_weight.data = layer.keys_queries_values.weight.data
    theirs.self_attn.in_proj_bias.data = layer.keys_queries_values.bias.data
    theirs.self_attn.out_proj.load_state_dict(layer.mix.state_dict())
    theirs.linear1.load_state_dict(layer.feed_forward[0].state_dict())
    theirs.linear2.load_state_dict(layer.feed_forward[2].state_dict())
    vectors, lengths = torch.randn(3, 5, 6), torch.tensor([5, 2, 4])
    x = np.sqrt(8) * ours.project(vectors) + positions(5, 8)
    expected = ours.norm(theirs(x, src_key_padding_mask=torch.arange(5) >= lengths[:, None]))
    for row, length in enumerate(lengths.tolist()):
        torch.testing.assert_close(ours(vectors, lengths)[row, :length], expected[row, :length])


def test_positions_follow_the_formula() -> None:
    table = positions(7, 6)
    assert table[3, 0] == pytest.approx(np.sin(3))
    assert table[3, 3] == pytest.approx(np.cos(3 / 10000 ** (2 / 6)))
    assert positions(4, 5).shape == (4, 5)


def test_heads_must_divide_the_hidden_size() -> None:
    with pytest.raises(UsageError, match="heads=3"):
        build("transformer", heads=3)


def test_an_even_kernel_is_refused() -> None:
    with pytest.raises(ValueError, match="kernel 4"):
        CnnOptions(kernels=(3, 4))


@pytest.mark.parametrize(("name", "activation"), [("mlp", torch.relu), ("average", torch.tanh)])
def test_unitwise_encoders_read_each_word_separately(name: str, activation: Any) -> None:
    model: Any = build(name)
    trace = read(model, toy_data().test[:1])
    linear = model.encoder.layer[0]
    expected = activation(trace.embeddings @ linear.weight.T + linear.bias)
    torch.testing.assert_close(trace.hidden, expected)
