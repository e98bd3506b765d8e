"""The attention classifiers of text: every encoder with every scorer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from text_building import MODELS, SCORERS, build, read, sentence_data, with_queries

from attnx.plugin import DataError, Example
from attnx.run.training.loop import loss
from attnx.testing import assert_conforms, toy_data
from attnx_encoders.options import CnnOptions
from attnx_projections.entmax import Entmax
from attnx_projections.options import EntmaxOptions


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("name", MODELS)
def test_model_passes_the_conformance_tests(name: str, scorer: str) -> None:
    assert_conforms("model", build(name, scorer=scorer))


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("name", [name for name in MODELS if name != "han"])
def test_model_passes_the_conformance_tests_with_queries(name: str, scorer: str) -> None:
    data = with_queries(toy_data())
    assert_conforms("model", build(name, data, scorer=scorer), data)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "han"])
def test_model_passes_the_conformance_tests_without_boundaries(name: str) -> None:
    assert_conforms("model", build(name, boundaries=False))


@pytest.mark.parametrize("name", MODELS)
def test_a_single_text_has_the_same_logits_as_in_a_batch(name: str) -> None:
    rng = np.random.default_rng(0)
    texts = [
        Example(str(i), tuple(rng.choice(["one", "two", "three", "four", "five", "."], size=n)), i % 2)
        for i, n in enumerate((1, 40, 7, 23, 2, 16))
    ]
    model = build(name)
    together = read(model, texts).logits
    alone = torch.cat([read(model, [text]).logits for text in texts])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)
    assert float(together.std(0).min()) > 1e-3, "the texts have different outputs"


@pytest.mark.parametrize("options", [{}, {"boundaries": False}], ids=["boundaries", "words only"])
@pytest.mark.parametrize("name", MODELS)
def test_a_text_without_words_gets_a_finite_answer_and_gradient(name: str, options: dict[str, bool]) -> None:
    model = build(name, **({} if name == "han" else options))
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
    trace = read(model, [Example("empty", (), 0)])
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
    before = loss(model, batch).item()
    for _ in range(30):
        optimizer.zero_grad()
        value = loss(model, batch)
        value.backward()
        optimizer.step()
    assert loss(model, batch).item() < 0.8 * before


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


def test_boundaries_are_columns_that_get_no_attention() -> None:
    batch = build("bilstm").encode(toy_data().test[:2])  # three and two words
    assert batch.lengths.tolist() == [5, 4]
    assert batch.mask.tolist() == [[False, True, True, True, False], [False, True, True, False, False]]
    assert batch.unit_index.tolist() == [[-1, 0, 1, 2, -1], [-1, 0, 1, -1, -1]]
    assert batch.inputs[:, 0].tolist() == [2, 2]
    assert batch.inputs[0, 4] == batch.inputs[1, 3] == 3
    assert batch.inputs[1, 4] == 0
    assert batch.rationale[0].tolist() == [0, 1, 0, 0, 0]


@pytest.mark.parametrize("name", MODELS)
def test_words_are_kept_in_four_bytes_each(name: str) -> None:
    """Every text of a split is as wide as the longest."""
    data = with_queries(toy_data()) if name != "han" else toy_data()
    batch = build(name, data).encode(data.test)
    assert batch.inputs.element_size() == 4
    if name != "han":
        assert batch.query is not None
        assert batch.unit_index.element_size() == batch.query.element_size() == 4


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
        read(model, [replace(example, query=query)]).attention for query in (("one",), ("five", "two"))
    )
    assert not torch.allclose(first, second)


@pytest.mark.parametrize("query", [False, True])
def test_logits_are_linear_in_the_attended_state(query: bool) -> None:
    data = with_queries(toy_data()) if query else toy_data()
    model = build("bilstm", data)
    trace = read(model, data.test)
    attention = torch.rand(len(data.test), 3, trace.batch.mask.shape[1])
    context = (attention[..., None] * trace.hidden[:, None]).sum(2)  # [B, 3, H]
    with torch.no_grad():
        expected = context @ model.decoder.weight[:, :16].T + model.decoder.bias
        if query:
            q = model.encoded_query(trace.batch)
            assert q is not None
            expected = expected + (q @ model.decoder.weight[:, 16:].T)[:, None]
        torch.testing.assert_close(model.reattend(trace, attention), expected, atol=1e-5, rtol=1e-5)


def test_a_learned_alpha_is_an_attention_parameter() -> None:
    projection = Entmax(EntmaxOptions(learned=True))
    model = build("mlp", toy_data(), projection)
    learned = {id(parameter) for parameter in projection.parameters()}
    assert learned
    assert learned <= {id(parameter) for parameter in model.attention_parameters()}


def test_kernels_are_given_on_a_command_line_joined_by_plus() -> None:
    assert CnnOptions.model_validate({"kernels": "1+3+ 5"}).kernels == (1, 3, 5)
    with pytest.raises(ValueError, match="kernel 2 is not odd"):
        CnnOptions.model_validate({"kernels": "1+2"})
