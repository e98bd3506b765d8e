"""Influence: a model that mixes units by known weights, and autograd one text at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch
from text_building import build, read
from torch import Tensor, nn

from attnx.formulas import Randomness, chunks
from attnx.plugin import Batch, Evidence, Example, Importance, Model, TaskData, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import Named, attribute, trace_of
from attnx.testing import ToyModel, assert_conforms, toy_data
from attnx_encoders import lstm_influence as fast_path
from attnx_encoders.lstm_influence import lstm_influence
from attnx_encoders.self_attention_influence import self_attention_influence
from attnx_influence.contextualisation import Contextualisation
from attnx_influence.importance import InfluenceOnStates
from attnx_influence.influence import one_pass_each, shares_of_influence, sizes_of_influence
from attnx_influence.options import InfluenceOptions

Mix = Callable[[Tensor, Tensor], Tensor]  # hidden state p, unit i -> weight of x_i in h_p


class Mixing(ToyModel):
    """h_p = Σ_i M_pi x_i, so ‖∂‖h_p‖/∂x_i‖ is |M_pi|."""

    def __init__(self, mix: Mix) -> None:
        super().__init__()
        self.mix = mix

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        column = torch.arange(embeddings.shape[1])
        m = self.mix(column[:, None], column[None]).to(embeddings).expand(len(batch), -1, -1)
        hidden = torch.bmm(m * batch.mask[:, None], embeddings)
        scores, a, logits = self.decode(batch, hidden)
        return Trace(batch, embeddings, hidden, scores, a, logits)


def weights(p: Tensor, i: Tensor) -> Tensor:
    return (1.0 + p) / (1.0 + (p - i).abs()) ** 2 * torch.where(i % 2 == 0, 1.0, -1.0)


def trace_and(model: Model, *lengths: int) -> Trace:
    words = ("one", "two", "three", "four", "five")
    rng = np.random.default_rng(0)
    examples = [Example(f"e{k}", tuple(rng.choice(words, n)), 0) for k, n in enumerate(lengths)]
    with evaluating(model):
        return trace_of(model, model.encode(examples))


def context(model: Model, trace: Trace, column: int = 0) -> Tensor:
    explanation = Importance("attention", trace.attention, trace.predicted)
    with evaluating(model):
        values = Contextualisation()(Evidence(trace, explanation, None, model, Randomness(0)))
    return values[:, column]


def importance(model: Model, trace: Trace, **options: Any) -> Tensor:
    named = Named("influence", InfluenceOnStates(InfluenceOptions(**options)))
    with evaluating(model):
        return attribute(named, model, trace, trace.predicted).values


def known(n: int) -> np.ndarray[Any, Any]:
    """[P, I] the shares of influence in `Mixing(weights)`."""
    column = torch.arange(n)
    m = weights(column[:, None], column[None]).abs().double().numpy()
    return m / m.sum(1, keepdims=True)


# Any model.


def test_influence_is_the_known_weight() -> None:
    model = Mixing(weights)
    trace = trace_and(model, 5, 3)
    with evaluating(model):
        found = one_pass_each(model, trace)
    column = torch.arange(5)
    m = weights(column[:, None], column[None]).abs().double()
    torch.testing.assert_close(found[0], m, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(found[1, :3, :3], m[:3, :3], rtol=1e-5, atol=1e-6)


def test_contextualisation_is_the_mean_entropy_of_the_known_shares() -> None:
    model = Mixing(weights)
    lengths = (5, 2, 9, 4)
    expected = [np.mean(scipy.stats.entropy(known(n), axis=1)) / math.log(n) for n in lengths]
    np.testing.assert_allclose(context(model, trace_and(model, *lengths)), expected, rtol=1e-5)


def test_the_share_of_a_states_own_unit_and_how_often_it_leads_are_those_of_the_known_shares() -> None:
    model = Mixing(weights)
    lengths = (5, 2, 9, 4)
    trace = trace_and(model, *lengths)
    shares = [np.diag(known(n)).mean() for n in lengths]
    leads = [(np.diag(known(n)) >= known(n).max(1)).mean() for n in lengths]
    np.testing.assert_allclose(context(model, trace, 1), shares, rtol=1e-5)
    np.testing.assert_allclose(context(model, trace, 2), leads)


@pytest.mark.parametrize(
    ("mix", "expected"),
    [(lambda p, i: (p == i).float(), 0.0), (lambda p, i: torch.ones_like(p - i, dtype=torch.float32), 1.0)],
)
def test_contextualisation_is_0_for_separate_units_and_1_for_a_mean_of_all(mix: Mix, expected: float) -> None:
    model = Mixing(mix)
    np.testing.assert_allclose(context(model, trace_and(model, 5, 3)), expected, atol=1e-5)


def test_contextualisation_is_undefined_for_one_unit_and_without_influence() -> None:
    model = Mixing(weights)
    assert context(model, trace_and(model, 1, 3)).isnan().tolist() == [True, False]
    nothing = Mixing(lambda p, i: torch.zeros_like(p - i, dtype=torch.float32))
    assert context(nothing, trace_and(nothing, 3)).isnan().all()


def test_a_hidden_state_that_nothing_influences_is_left_out() -> None:
    model = Mixing(lambda p, i: torch.where(p == 0, 0.0, 1.0).expand(len(p), i.shape[1]))
    trace = trace_and(model, 4)
    assert float(context(model, trace)) == pytest.approx(1.0)
    assert importance(model, trace).tolist()[0] == pytest.approx([0.25] * 4)


def test_hidden_states_whose_square_underflows_are_influenced_all_the_same() -> None:
    model = Mixing(lambda p, i: 1e-30 * weights(p, i))
    found = context(model, trace_and(model, 5))
    np.testing.assert_allclose(found, np.mean(scipy.stats.entropy(known(5), axis=1)) / math.log(5), rtol=1e-5)


def test_importance_is_the_mean_share_of_influence() -> None:
    model = Mixing(weights)
    trace = trace_and(model, 5, 3)
    plain, weighted = importance(model, trace), importance(model, trace, weight="attention")
    for row, n in enumerate((5, 3)):
        a = trace.attention[row, :n].double().numpy()
        np.testing.assert_allclose(plain[row, :n], known(n).mean(0), rtol=1e-4)
        np.testing.assert_allclose(weighted[row, :n], a @ known(n), rtol=1e-4)
    assert plain[1, 3:].tolist() == [0, 0]


@pytest.mark.parametrize("cells", [1, 40, 60])
def test_pieces_give_what_the_whole_gives(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Mixing(weights)
    trace = trace_and(model, 3, 5, 2, 4)
    whole = context(model, trace), importance(model, trace)
    monkeypatch.setattr(chunks, "CELLS", cells)
    torch.testing.assert_close(context(model, trace), whole[0])
    torch.testing.assert_close(importance(model, trace), whole[1])
    with evaluating(model):
        pieces = [g.shape for _, _, g in shares_of_influence(model, trace)]
    assert all(math.prod(shape) <= cells or shape[0] == 1 for shape in pieces)
    assert sum(shape[0] for shape in pieces) == 4


@pytest.mark.parametrize("columns", [1, 12, 30])
def test_few_rows_at_a_time_give_what_all_rows_give(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Mixing(weights)
    trace = trace_and(model, 3, 5, 2, 4)
    pairs = trace.batch.mask[:, :, None] & trace.batch.mask[:, None]
    with evaluating(model):
        whole = one_pass_each(model, trace) * pairs
        monkeypatch.setattr(chunks, "DIFFERENTIATED", columns)
        passes = 0
        run = model.run

        def counted(batch: Batch, embeddings: Tensor, **attention: Any) -> Trace:
            nonlocal passes
            passes += 1
            assert embeddings.shape[0] == 1 or embeddings.shape[0] * trace.batch.mask.shape[1] <= columns
            return run(batch, embeddings, **attention)

        monkeypatch.setattr(model, "run", counted)
        torch.testing.assert_close(one_pass_each(model, trace) * pairs, whole)
    assert passes == {1: 4, 12: 2, 30: 1}[columns]


# The LSTM's own path.


def texts(lengths: list[int]) -> TaskData:
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(40)]
    examples = tuple(Example(str(k), tuple(rng.choice(words, n)), k % 2) for k, n in enumerate(lengths))
    return replace(toy_data(), train=examples, dev=examples, test=examples)


def by_autograd(model: Any, vectors: Tensor) -> Tensor:
    """[n, n] for one text [n, E], from torch's own bidirectional LSTM in double precision."""
    ahead, back = model.encoder.ahead, model.encoder.back
    lstm = nn.LSTM(ahead.input_size, ahead.hidden_size, bidirectional=True, batch_first=True)
    reverse = {f"{name}_reverse": value for name, value in back.state_dict().items()}
    lstm.load_state_dict({**ahead.state_dict(), **reverse})
    lstm.double()
    x = vectors.detach().double().requires_grad_()
    norms = lstm(x[None])[0][0].norm(dim=-1)  # [n]
    rows = [torch.autograd.grad(norm, x, retain_graph=True)[0].norm(dim=-1) for norm in norms]
    return torch.stack(rows)


@pytest.mark.parametrize("rows", [1024, 12, 1])
@pytest.mark.parametrize("boundaries", [True, False])
def test_lstm_path_equals_autograd_of_each_text_alone(
    rows: int, boundaries: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast_path, "ROWS", rows)
    data = texts([4, 1, 7, 2, 7, 5])
    model = build("bilstm", data, boundaries=boundaries)
    trace = read(model, data.test)
    found = model.influence(trace)
    columns = trace.batch.mask.shape[1]
    assert found.shape == (6, columns, columns)
    for row, n in enumerate(trace.batch.lengths.tolist()):
        expected = by_autograd(model, trace.embeddings[row, :n])
        torch.testing.assert_close(found[row, :n, :n].double(), expected, rtol=1e-4, atol=1e-6)
        assert not found[row, n:].any()
        assert not found[row, :, n:].any()


def test_lstm_path_is_exact_in_double_precision() -> None:
    data = texts([9, 3])
    model = build("bilstm", data).double()
    trace = read(model, data.test)
    for row, n in enumerate(trace.batch.lengths.tolist()):
        expected = by_autograd(model, trace.embeddings[row, :n])
        torch.testing.assert_close(model.influence(trace)[row, :n, :n], expected, rtol=1e-10, atol=1e-14)


def test_lstm_path_follows_influence_to_where_its_square_underflows() -> None:
    data = texts([60])
    model = build("bilstm", data)
    with torch.no_grad():  # forgets nearly all at every word, and hears the words faintly
        for layer in (model.encoder.ahead, model.encoder.back):
            layer.bias_ih_l0[len(layer.bias_ih_l0) // 4 :][: len(layer.bias_ih_l0) // 4] = -3.0
            layer.weight_ih_l0.mul_(1e-16)
    trace = read(model, data.test)
    n = int(trace.batch.lengths[0])
    found = model.influence(trace)[0, :n, :n].double()
    expected = by_autograd(model, trace.embeddings[0, :n])
    single = expected > 1e-36  # what float32 can hold
    assert bool((expected[single] < 1e-24).any())
    torch.testing.assert_close(found[single], expected[single], rtol=1e-3, atol=0)


def test_a_text_without_words_influences_nothing() -> None:
    data = texts([3, 2])
    model = build("bilstm", data, boundaries=False)
    trace = read(model, data.test)
    hidden = trace.hidden.clone()
    hidden[1] = 0.0
    found = lstm_influence(model.encoder, trace.embeddings, hidden, torch.tensor([3, 0]))
    assert found[0].all()
    assert not found[1].any()
    assert not lstm_influence(model.encoder, trace.embeddings, hidden, torch.tensor([0, 0])).any()


def test_model_with_a_fast_path_is_asked_for_it() -> None:
    model = Mixing(weights)
    trace = trace_and(model, 3)
    model.provides = (*model.provides, "fast-influence")  # type: ignore[misc]
    model.influence = lambda trace: 7 * torch.ones(1, 3, 3)  # type: ignore[assignment]
    with evaluating(model):
        assert torch.equal(sizes_of_influence(model, trace), torch.full((1, 3, 3), 7.0, dtype=torch.float64))


@pytest.mark.parametrize("name", ["bilstm", "transformer"])
def test_fast_path_agrees_with_the_slow_one(name: str) -> None:
    data = texts([6, 4, 1, 9])
    model = build(name, data) if name == "bilstm" else transformer(data)
    trace = read(model, data.test)
    units = trace.batch.mask
    pairs = units[:, :, None] & units[:, None]
    with evaluating(model):
        torch.testing.assert_close(
            sizes_of_influence(model, trace) * pairs,
            one_pass_each(model, trace) * pairs,
            rtol=1e-4,
            atol=1e-6,
        )
    fast = context(model, trace), importance(model, trace)
    model.provides = tuple(word for word in model.provides if word != "fast-influence")
    model.influence = None
    torch.testing.assert_close(context(model, trace), fast[0], rtol=1e-4, atol=1e-5, equal_nan=True)
    torch.testing.assert_close(importance(model, trace), fast[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "alone"), [("average", True), ("mlp", True), ("cnn", False), ("han", False)]
)
def test_encoders_that_read_units_separately_do_not_contextualise(name: str, alone: bool) -> None:
    data = texts([6, 4, 9])
    if name == "han":
        sentences = tuple(
            replace(example, units=tuple(" ".join(example.units).replace("w3", ". w3").split()))
            for example in data.test
        )
        data = replace(data, train=sentences, dev=sentences, test=sentences)
    model = build(name, data)
    values = context(model, read(model, data.test))
    known_values = values[~values.isnan()]
    assert len(known_values)
    assert bool((known_values < 1e-6).all()) == alone


# The transformer's own path.


def transformer(data: TaskData, **options: Any) -> Any:
    """With the norms of a trained model: with scales of 1 and shifts of 0 every ‖h_p‖ is nearly constant."""
    model = build("transformer", data, **options)
    with torch.no_grad():
        for name, parameter in model.encoder.named_parameters():
            if "norm" in name or "before" in name:
                parameter.add_(0.5 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (2, 1), (2, 4), (3, 2)])
@pytest.mark.parametrize("embedding", [5, 12])
def test_transformer_path_is_exact_in_double_precision(layers: int, heads: int, embedding: int) -> None:
    data = texts([9, 1, 2, 20])  # short ones, where feed-forward networks are not turned into matrices
    model = transformer(data, layers=layers, heads=heads, embedding=embedding).double()
    trace = read(model, data.test)
    found = model.influence(trace)
    for row, n in enumerate(trace.batch.lengths.tolist()):
        x = trace.embeddings[row, :n].detach().requires_grad_()
        norms = model.encoder(x[None], torch.tensor([n]))[0].norm(dim=-1)
        expected = [torch.autograd.grad(norm, x, retain_graph=True)[0].norm(dim=-1) for norm in norms]
        torch.testing.assert_close(found[row, :n, :n], torch.stack(expected), rtol=1e-9, atol=1e-13)
        assert not found[row, n:].any()
        assert not found[row, :, n:].any()


def test_transformer_path_does_not_depend_on_the_other_texts_of_a_batch() -> None:
    data = texts([6, 3, 11])
    model = transformer(data)
    whole = model.influence(read(model, data.test))
    for row, example in enumerate(data.test):
        alone = model.influence(read(model, [example]))[0]
        n = len(alone)
        assert torch.equal(whole[row, :n, :n], alone)


@pytest.mark.parametrize("columns", [1, 40])
def test_transformer_path_in_small_passes(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = texts([6, 3, 11])
    model = transformer(data, heads=2)
    trace = read(model, data.test)
    whole = model.influence(trace)
    monkeypatch.setattr(chunks, "COLUMNS", columns)
    torch.testing.assert_close(model.influence(trace), whole)


def test_transformer_path_with_states_and_gradients_of_nothing() -> None:
    data = texts([3])
    model = build("transformer", data)
    with torch.no_grad():
        model.encoder.norm.weight.zero_()
        model.encoder.norm.bias.zero_()  # every hidden state is 0
    trace = read(model, data.test)
    assert not model.influence(trace).any()
    encoder, x = model.encoder, trace.embeddings
    assert self_attention_influence(encoder, x, torch.tensor([0])).shape == (1, x.shape[1], x.shape[1])


# Declarations.


def test_laws() -> None:
    assert_conforms("importance", InfluenceOnStates(InfluenceOptions(weight="attention")))
