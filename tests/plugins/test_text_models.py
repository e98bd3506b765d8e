"""The attention classifiers of text: every encoder with every scorer, against independent computations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from attnx import Batch, DataError, Example, TaskData, Trace, UsageError
from attnx.batching import evaluating
from attnx.component import Component
from attnx.testing import check, toy_data
from attnx.testing.checking import _card_law
from attnx.testing.toy import ToySoftmax
from attnx.training import loss
from attnx_text.average import Average
from attnx_text.bilstm import BiLstm
from attnx_text.classifier import AttentionClassifier
from attnx_text.cnn import Cnn
from attnx_text.encoders import Bidirectional, Convolutions, Encoder, Unitwise
from attnx_text.han import Han
from attnx_text.mlp import Mlp
from attnx_text.model_cards import model_cards
from attnx_text.model_options import (
    BiLstmOptions,
    ClassifierOptions,
    CnnOptions,
    HanOptions,
    SequenceOptions,
    TransformerOptions,
)
from attnx_text.scorers import make_scorer
from attnx_text.self_attention import SelfAttention, positions
from attnx_text.transformer import Transformer

SCORERS = ("additive", "dot", "deep")
SMALL: dict[str, Any] = {"embedding": 12, "hidden": 8}
MODELS: dict[str, tuple[type[AttentionClassifier[Any]], type[ClassifierOptions]]] = {
    "bilstm": (BiLstm, BiLstmOptions),
    "cnn": (Cnn, CnnOptions),
    "mlp": (Mlp, SequenceOptions),
    "average": (Average, SequenceOptions),
    "transformer": (Transformer, TransformerOptions),
    "han": (Han, HanOptions),
}


def build(name: str, data: TaskData | None = None, **options: Any) -> AttentionClassifier[Any]:
    """A small untrained model whose words differ enough to be told apart."""
    model, options_class = MODELS[name]
    torch.manual_seed(0)
    built = model.build(data or toy_data(), ToySoftmax(), options_class(**{**SMALL, **options}))
    with torch.no_grad():
        built.word_vectors.weight.mul_(10.0)
    return built.eval()


def trace_of(model: AttentionClassifier[Any], examples: Any) -> Trace:
    batch = model.encode(examples)
    with evaluating(model):
        return model.run(batch, model.embed(batch))


def with_queries(data: TaskData) -> TaskData:
    """The same data with queries of different lengths."""
    words = ("one", "five", "two")
    asked = tuple(replace(example, query=words[: 1 + row % 3]) for row, example in enumerate(data.train))
    return replace(data, train=asked, dev=asked, test=asked)


# Laws


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("name", MODELS)
def test_model_keeps_every_law(name: str, scorer: str) -> None:
    check("model", build(name, scorer=scorer))


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("name", [name for name in MODELS if name != "han"])
def test_model_keeps_every_law_with_queries(name: str, scorer: str) -> None:
    data = with_queries(toy_data())
    check("model", build(name, data, scorer=scorer), data)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "han"])
def test_model_keeps_every_law_without_boundaries(name: str) -> None:
    check("model", build(name, boundaries=False))


@pytest.mark.parametrize("words", ["gru", "conv", "none"])
@pytest.mark.parametrize("sentences", ["gru", "conv", "none"])
def test_han_keeps_every_law_at_any_levels(words: str, sentences: str) -> None:
    data = sentence_data()
    check("model", build("han", data, words=words, sentences=sentences), data)


@pytest.mark.parametrize("card", model_cards(), ids=lambda card: card.name)
def test_card_says_what_the_class_says(card: Any) -> None:
    assert _card_law(Component(card, "model", "text", "attnx", "0")).failure == ""


@pytest.mark.parametrize("name", MODELS)
def test_a_text_alone_has_the_logits_it_has_in_a_batch(name: str) -> None:
    rng = np.random.default_rng(0)
    texts = [
        Example(str(i), tuple(rng.choice(["one", "two", "three", "four", "five", "."], size=n)), i % 2)
        for i, n in enumerate((1, 40, 7, 23, 2, 16))
    ]
    model = build(name)
    together = trace_of(model, texts).logits
    alone = torch.cat([trace_of(model, [text]).logits for text in texts])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)
    assert float(together.std(0).min()) > 1e-3, "the texts are told apart"


@pytest.mark.parametrize("name", MODELS)
def test_a_text_without_words_gets_a_finite_answer_and_gradient(name: str) -> None:
    model = build(name)
    batch = model.encode([Example("empty", (), 0), toy_data().train[0]])
    embeddings = model.embed(batch).detach().requires_grad_()
    trace = model.run(batch, embeddings)
    (gradient,) = torch.autograd.grad(trace.logits.sum(), embeddings)
    assert trace.logits.isfinite().all()
    assert gradient.isfinite().all()
    assert not trace.attention[0].any()


@pytest.mark.parametrize("name", [name for name in MODELS if name != "han"])
def test_a_batch_without_any_column_can_be_run(name: str) -> None:
    model = build(name, boundaries=False)
    trace = trace_of(model, [Example("empty", (), 0)])
    assert trace.batch.inputs.shape == (1, 0)
    torch.testing.assert_close(trace.logits[0], model.decoder.bias.detach())


@pytest.mark.parametrize("name", MODELS)
def test_only_the_words_of_a_text_have_gradients(name: str) -> None:
    model = build(name)
    batch = model.encode(toy_data().test)
    embeddings = model.embed(batch).detach().requires_grad_()
    logits = model.run(batch, embeddings).logits
    (gradient,) = torch.autograd.grad((logits[:, 1] - logits[:, 0]).sum(), embeddings)
    norms = gradient.norm(dim=-1)
    used = torch.arange(norms.shape[1]) < batch.lengths[:, None]
    assert not norms[~used].any()
    assert (norms[batch.mask] > 0).all() or name in ("han", "mlp")  # ReLU may silence a word


@pytest.mark.parametrize("name", MODELS)
def test_training_steps_lower_the_loss(name: str) -> None:
    model = build(name, sentence_data() if name == "han" else None).train()
    batch = model.encode((sentence_data() if name == "han" else toy_data()).train)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    before = float(loss(model, batch))
    for _ in range(30):
        optimizer.zero_grad()
        value = loss(model, batch)
        value.backward()
        optimizer.step()
    assert float(loss(model, batch)) < 0.5 * before


def test_attention_parameters_are_those_of_the_scorer() -> None:
    for scorer, count in (("additive", 3), ("dot", 1), ("deep", 5)):
        model = build("bilstm", scorer=scorer)
        assert len(list(model.attention_parameters())) == count
    asked = build("bilstm", with_queries(toy_data()), scorer="dot")
    assert list(asked.attention_parameters()) == []


def test_dropout_acts_in_training_only() -> None:
    model = build("bilstm", dropout=0.5)
    batch = model.encode(toy_data().test)
    quiet = [model.run(batch, model.embed(batch)).logits for _ in range(2)]
    assert torch.equal(*quiet)
    model.train()
    noisy = [model.run(batch, model.embed(batch)).logits for _ in range(2)]
    assert not torch.allclose(*noisy)


# Columns


def test_boundaries_are_columns_that_get_no_attention() -> None:
    batch = build("bilstm").encode(toy_data().test[:2])  # three and two words
    assert batch.lengths.tolist() == [5, 4]
    assert batch.mask.tolist() == [[False, True, True, True, False], [False, True, True, False, False]]
    assert batch.unit_index.tolist() == [[-1, 0, 1, 2, -1], [-1, 0, 1, -1, -1]]
    assert batch.inputs[:, 0].tolist() == [2, 2]
    assert batch.inputs[0, 4] == batch.inputs[1, 3] == 3
    assert batch.inputs[1, 4] == 0
    assert batch.rationale[0].tolist() == [0, 1, 0, 0, 0]


def test_without_boundaries_there_are_only_words() -> None:
    batch = build("bilstm", boundaries=False).encode(toy_data().test[:2])
    assert batch.lengths.tolist() == [3, 2]
    assert batch.unit_index.tolist() == [[0, 1, 2], [0, 1, -1]]


def test_query_is_read_as_words_within_boundaries() -> None:
    data = with_queries(toy_data())
    model = build("bilstm", data)
    batch = model.encode(data.test[:2])
    number = model.vocabulary.number
    assert batch.query is not None
    assert batch.query.tolist() == [[2, number["one"], 3, 0], [2, number["one"], number["five"], 3]]


def test_example_without_its_query_is_refused_by_name() -> None:
    with pytest.raises(DataError, match="toy-0"):
        build("bilstm", with_queries(toy_data())).encode(toy_data().test)


@pytest.mark.parametrize("scorer", SCORERS)
def test_another_query_gives_another_attention(scorer: str) -> None:
    data = with_queries(toy_data())
    model = build("bilstm", data, scorer=scorer)
    example = data.test[2]
    first, second = (
        trace_of(model, [replace(example, query=query)]).attention for query in (("one",), ("five", "two"))
    )
    assert not torch.allclose(first, second)


# Scorers


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
    scorer: Any = _scorer("deep", query, scorer_layers=3)
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
    return make_scorer(ClassifierOptions(scorer=name, **options), 8, query)


# Encoders


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
def test_states_are_those_of_the_text_alone_whatever_padding_holds(name: str, encoder: Encoder) -> None:
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
def test_unitwise_encoders_read_each_word_alone(name: str, activation: Any) -> None:
    model: Any = build(name)
    trace = trace_of(model, toy_data().test[:1])
    linear = model.encoder.layer[0]
    expected = activation(trace.embeddings @ linear.weight.T + linear.bias)
    torch.testing.assert_close(trace.hidden, expected)


# Sentences


def sentence_data() -> TaskData:
    """Texts of words and sentence marks, the first with a rationale."""
    texts = [
        "one two . three four five ! one",
        "five .",
        "one two three four five one two three",
        "two ? four ! ! one . three",
    ]
    examples = tuple(
        Example(
            f"text-{i}",
            tuple(text.split()),
            i % 2,
            rationale=tuple(place == 4 for place in range(len(text.split()))) if i == 0 else None,
        )
        for i, text in enumerate(texts)
    )
    return TaskData(train=examples, dev=examples, test=examples, label_names=("no", "yes"))


def test_units_of_a_han_are_sentences() -> None:
    batch = build("han", sentence_data(), longest=5).encode(sentence_data().test)
    assert [example.units for example in batch.examples] == [
        ("one two .", "three four five !", "one"),
        ("five .",),
        ("one two three four five", "one two three"),
        ("two ?", "four ! !", "one .", "three"),
    ]
    assert batch.lengths.tolist() == [3, 1, 2, 4]
    assert batch.unit_index[0].tolist() == [0, 1, 2, -1]
    assert batch.rationale[0].tolist() == [0, 1, 0, 0]
    assert batch.rationale[1].isnan().all()


def test_a_text_in_sentences_stays_as_it_is() -> None:
    model = build("han", sentence_data())
    once = model.encode(sentence_data().test)
    again = model.encode(once.examples)
    assert again.examples == once.examples
    assert torch.equal(again.inputs, once.inputs)
    from_sentences = build("han", replace(sentence_data(), train=once.examples))
    assert from_sentences.vocabulary == model.vocabulary


def test_deleting_a_column_of_a_han_deletes_its_sentence() -> None:
    model = build("han", sentence_data())
    batch = model.encode(sentence_data().test[:1])
    kept = torch.tensor([0, 2])
    shorter = Batch.collate(
        batch.examples,
        inputs=batch.inputs[:, kept],
        mask=batch.mask[:, kept],
        unit_index=batch.unit_index[:, kept],
        lengths=batch.lengths - 1,
    )
    with evaluating(model):
        by_column = model.run(shorter, model.embed(batch)[:, kept]).logits
    words = tuple("one two . one".split())
    by_words = trace_of(model, [Example("shorter", words, 0)]).logits
    torch.testing.assert_close(by_column, by_words, atol=1e-6, rtol=1e-6)


def test_han_equals_its_two_levels_written_out() -> None:
    model: Any = build("han", sentence_data(), words="none", sentences="none")
    trace = trace_of(model, sentence_data().test[:1])
    table, scorer = model.word_vectors.weight, model.word_scorer
    sentences = []
    for sentence in ("one two .", "three four five !", "one"):
        words = table[torch.tensor(model.vocabulary.numbers(sentence.split()))]  # [W, e]
        z = torch.tanh(words @ scorer.state.weight.T + scorer.state.bias) @ scorer.v.weight[0]
        sentences.append(z.softmax(0) @ words)
    hidden = torch.stack(sentences)
    torch.testing.assert_close(trace.hidden[0], hidden, atol=1e-5, rtol=1e-5)
    expected = trace.attention[0] @ hidden @ model.decoder.weight.T + model.decoder.bias
    torch.testing.assert_close(trace.logits[0], expected, atol=1e-5, rtol=1e-5)


def test_han_refuses_a_task_with_queries() -> None:
    with pytest.raises(UsageError, match="bilstm"):
        build("han", with_queries(toy_data()))


# Decoding


@pytest.mark.parametrize("query", [False, True])
def test_logits_are_linear_in_the_attended_state(query: bool) -> None:
    data = with_queries(toy_data()) if query else toy_data()
    model = build("bilstm", data)
    trace = trace_of(model, data.test)
    attention = torch.rand(len(data.test), 3, trace.batch.mask.shape[1])
    context = (attention[..., None] * trace.hidden[:, None]).sum(2)  # [B, 3, H]
    with torch.no_grad():
        expected = context @ model.decoder.weight[:, :16].T + model.decoder.bias
        if query:
            q = model.encoded_query(trace.batch)
            assert q is not None
            expected = expected + (q @ model.decoder.weight[:, 16:].T)[:, None]
        torch.testing.assert_close(model.reattend(trace, attention), expected, atol=1e-5, rtol=1e-5)
