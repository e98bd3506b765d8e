"""`gradient-hidden`, `attention-gradient`, `attention-x-gradient` and `loo-hidden`."""

from typing import Any

import numpy as np
import pytest
import torch
from explained_models import MODELS, explain
from torch import Tensor

from attnx.formulas import attention_without, chunks
from attnx.plugin import AttentionProjection, Example, ImportanceMethod, Model, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.testing import ToyModel, assert_conforms, toy_data
from attnx_erasure.hidden_loo import HiddenLeaveOneOut
from attnx_erasure.options import HiddenLeaveOneOutOptions
from attnx_gradient.attention_gradient import AttentionGradient
from attnx_gradient.attention_x_gradient import AttentionXGradient
from attnx_gradient.gradient import Gradient
from attnx_gradient.hidden_gradient import HiddenGradient
from attnx_gradient.options import AttentionGradientOptions, GradientOptions
from attnx_projections.sparsemax import Sparsemax

OF = ("probability", "logit", "loss")
REDUCE = ("l2", "l1", "dot-embedding-abs", "signed")
SIGNED = AttentionGradientOptions()
RAW = HiddenLeaveOneOutOptions(normalise=False)

every_model = pytest.mark.parametrize("make", list(MODELS))


def output(logits: Tensor, target: Tensor, of: str) -> Tensor:
    """[B] written down plainly, in double precision."""
    z = logits.double() if of == "logit" else logits.double().log_softmax(-1)
    chosen = z.gather(1, target[:, None])[:, 0]
    return {"logit": chosen, "probability": chosen.exp(), "loss": -chosen}[of]


# gradient-hidden


@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("reduce", REDUCE)
@pytest.mark.parametrize("attention", ["flowing", "fixed"])
def test_where_hidden_states_are_embeddings_it_is_the_gradient(of: str, reduce: str, attention: str) -> None:
    options = GradientOptions(of=of, reduce=reduce, attention=attention)  # type: ignore[arg-type]
    _, hidden = explain(ToyModel(), toy_data().test, HiddenGradient(options))
    _, embedded = explain(ToyModel(), toy_data().test, Gradient(options))
    torch.testing.assert_close(hidden, embedded)


@every_model
@pytest.mark.parametrize("attention", ["flowing", "fixed"])
def test_finite_differences_of_a_hidden_state_agree(make: str, attention: str) -> None:
    """Along h_i itself, which is what the signed reduction projects on."""
    model, data = MODELS[make]()
    model.double()  # type: ignore[attr-defined]
    options = GradientOptions(reduce="signed", attention=attention, normalise=False)  # type: ignore[arg-type]
    trace, found = explain(model, data.test, HiddenGradient(options))

    def p(hidden: Tensor) -> Tensor:
        with evaluating(model):
            scores, a, _ = model.decode(trace.batch, hidden)
            a = trace.attention if attention == "fixed" else a
            moved = Trace(trace.batch, trace.embeddings, hidden, scores, a, trace.logits)
            return output(model.reattend(moved, a), trace.predicted, "probability")

    step = 1e-6
    for column in range(trace.batch.mask.shape[1]):
        towards = torch.zeros_like(trace.hidden)
        towards[:, column] = trace.hidden[:, column]
        slope = (p(trace.hidden + step * towards) - p(trace.hidden - step * towards)) / (2 * step)
        expected = slope.masked_fill(~trace.batch.mask[:, column], 0.0)
        torch.testing.assert_close(found[:, column], expected, atol=1e-8, rtol=1e-5)


# attention-gradient and attention-x-gradient


@pytest.mark.parametrize("of", OF)
def test_the_toy_model_has_a_closed_form(of: str) -> None:
    """The margin is 2s·Σ a_i x_i2, so ∂p/∂a_i = 2p(1 − p)·s·x_i2."""
    options = AttentionGradientOptions(of=of)  # type: ignore[arg-type]
    trace, found = explain(ToyModel(), toy_data().test, AttentionGradient(options))
    sign = 2.0 * trace.predicted[:, None] - 1
    p = trace.probabilities.amax(1, keepdim=True)
    factor = {"probability": 2 * p * (1 - p), "logit": 1.0, "loss": -2 * (1 - p)}[of]
    expected = (factor * sign * trace.embeddings[..., 1]).masked_fill(~trace.batch.mask, 0.0)
    torch.testing.assert_close(found, expected)
    assert (found < 0).any()
    _, product = explain(ToyModel(), toy_data().test, AttentionXGradient(options))
    torch.testing.assert_close(product, trace.attention * expected)


@every_model
@pytest.mark.parametrize("of", OF)
def test_finite_differences_of_a_weight_agree(make: str, of: str) -> None:
    model, data = MODELS[make]()
    model.double()  # type: ignore[attr-defined]
    options = AttentionGradientOptions(of=of)  # type: ignore[arg-type]
    trace, found = explain(model, data.test, AttentionGradient(options))

    def moved(by: Tensor) -> Tensor:
        with evaluating(model):
            return output(model.reattend(trace, trace.attention + by), trace.predicted, of)

    step = 1e-6
    for column in range(trace.batch.mask.shape[1]):
        by = torch.zeros_like(trace.attention)
        by[:, column] = step
        slope = ((moved(by) - moved(-by)) / (2 * step)).masked_fill(~trace.batch.mask[:, column], 0.0)
        torch.testing.assert_close(found[:, column], slope, atol=1e-7, rtol=1e-5)


# loo-hidden


def without_each(model: Model, trace: Trace, row: int, attend: Any) -> list[Tensor]:
    """Probabilities [C] of one row with each of its units left out, one call for each."""
    found = []
    for column in trace.batch.mask[row].nonzero()[:, 0].tolist():
        a = trace.attention.clone()
        a[row] = attend(row, column)
        with evaluating(model):
            found.append(model.reattend(trace, a)[row].double().softmax(-1))
    return found


@every_model
@pytest.mark.parametrize("of", ["target", "average"])
def test_under_softmax_a_loop_that_renormalises_the_rest_agrees(make: str, of: str) -> None:
    model, data = MODELS[make]()
    options = HiddenLeaveOneOutOptions(of=of, normalise=False)  # type: ignore[arg-type]
    trace, found = explain(model, data.test, HiddenLeaveOneOut(options))

    def renormalised(row: int, column: int) -> Tensor:
        a = trace.attention[row].double().numpy().copy()
        a[column] = 0
        return torch.from_numpy(a / a.sum())

    for row, p in enumerate(trace.logits.double().softmax(-1)):
        changes = [(p - q).abs() for q in without_each(model, trace, row, renormalised)]
        expected = [c.mean() if of == "average" else c[p.argmax()] for c in changes]
        got = found[row][trace.batch.mask[row]].double()
        torch.testing.assert_close(got, torch.stack(expected), atol=1e-6, rtol=1e-4)


def sparsemax(z: np.ndarray) -> np.ndarray:
    """By sorting, as Martins and Astudillo have it."""
    ordered = np.sort(z)[::-1]
    thresholds = (np.cumsum(ordered) - 1) / np.arange(1, len(z) + 1)
    support = int((ordered > thresholds).sum())
    return np.maximum(z - thresholds[support - 1], 0)


@pytest.mark.parametrize("make", ["toy", "bilstm"])
def test_under_sparsemax_the_others_are_projected_again(make: str) -> None:
    model, data = MODELS[make]()
    model.projection = Sparsemax()
    trace, found = explain(model, data.test, HiddenLeaveOneOut(RAW))

    def projected_again(row: int, column: int) -> Tensor:
        others = trace.batch.mask[row].numpy() & (np.arange(trace.scores.shape[1]) != column)
        a = np.zeros(len(others))
        a[others] = sparsemax(trace.scores[row].double().numpy()[others])
        return torch.from_numpy(a)

    def renormalised(row: int, column: int) -> Tensor:
        each = torch.arange(trace.scores.shape[1]) == column
        return attention_without(trace.attention, trace.batch.mask, each.expand(len(trace.batch), 1, -1))[
            row, 0
        ]

    off = 0.0
    for row, p in enumerate(trace.logits.double().softmax(-1)):
        again, divided = (
            (p[p.argmax()] - torch.stack(without_each(model, trace, row, attend))[:, p.argmax()]).abs()
            for attend in (projected_again, renormalised)
        )
        got = found[row][trace.batch.mask[row]].double()
        torch.testing.assert_close(got, again, atol=2e-6, rtol=1e-3)
        off = max(off, float((got - divided).abs().max()))
    assert off > 1e-3, "renormalising the old weights is another quantity"


class Top(AttentionProjection):
    """All weight on the highest score, as sparse attention often has it."""

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        top = scores.masked_fill(~mask, -torch.inf).argmax(1)
        return torch.nn.functional.one_hot(top, mask.shape[1]).to(scores)


def test_the_next_gets_all_when_the_only_weight_is_taken_away() -> None:
    trace, found = explain(ToyModel(Top()), toy_data().test, HiddenLeaveOneOut(RAW))
    for row, example in enumerate(toy_data().test):
        n, top = len(example.units), int(trace.attention[row].argmax())
        x = trace.embeddings[row, :n, 1].double()
        margin = 2 * (2 * float(trace.predicted[row]) - 1)
        second = int(trace.scores[row, :n].argsort(descending=True, stable=True)[1])
        p, q = (torch.sigmoid(margin * c) for c in (x[top], x[second]))
        expected = torch.zeros(n, dtype=torch.float64)
        expected[top] = (p - q).abs()
        torch.testing.assert_close(found[row, :n].double(), expected, atol=1e-6, rtol=1e-4)


def test_attention_without_a_unit_is_on_the_simplex_of_the_others() -> None:
    for projection in (None, Top()):
        trace, _ = explain(ToyModel(projection), toy_data().test, HiddenLeaveOneOut(RAW))
        each = torch.eye(trace.batch.mask.shape[1], dtype=torch.bool).expand(len(trace.batch), -1, -1)
        without = attention_without(trace.attention, trace.batch.mask, each)  # [B, L, L]
        assert (without.diagonal(dim1=1, dim2=2) == 0).all()
        assert (without[~trace.batch.mask[:, None].expand_as(without)] == 0).all()
        torch.testing.assert_close(without.sum(-1), torch.ones(without.shape[:2]))


def test_a_single_unit_gets_zero() -> None:
    examples = [Example("alone", ("two",), 0), Example("pair", ("four", "five"), 1)]
    _, found = explain(ToyModel(), examples, HiddenLeaveOneOut(HiddenLeaveOneOutOptions()))
    assert found[0].tolist() == [0, 0]
    np.testing.assert_allclose(found[1].sum(), 1, rtol=1e-6)


@pytest.mark.parametrize("weights", [1, 100])
def test_the_number_of_weights_in_a_call_changes_nothing(
    weights: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, data = MODELS["bilstm"]()
    _, expected = explain(model, data.test, HiddenLeaveOneOut(HiddenLeaveOneOutOptions()))
    monkeypatch.setattr(chunks, "CELLS", weights)
    _, found = explain(model, data.test, HiddenLeaveOneOut(HiddenLeaveOneOutOptions()))
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)


METHODS: dict[str, ImportanceMethod] = {
    "gradient-hidden": HiddenGradient(GradientOptions()),
    "gradient-hidden fixed": HiddenGradient(GradientOptions(attention="fixed", reduce="signed")),
    "attention-gradient": AttentionGradient(SIGNED),
    "attention-x-gradient": AttentionXGradient(SIGNED),
    "loo-hidden": HiddenLeaveOneOut(HiddenLeaveOneOutOptions()),
    "loo-hidden average": HiddenLeaveOneOut(HiddenLeaveOneOutOptions(of="average", normalise=False)),
}


@pytest.mark.parametrize("name", ["gradient-hidden fixed", "loo-hidden average"])
def test_laws(name: str) -> None:
    assert_conforms("importance", METHODS[name])


@every_model
@pytest.mark.parametrize("name", list(METHODS))
def test_results_are_independent_of_batch_and_padding(name: str, make: str) -> None:
    model, data = MODELS[make]()
    _, together = explain(model, data.test, METHODS[name])
    for row, example in enumerate(data.test):
        _, alone = explain(model, [example], METHODS[name])
        expected = together[row, : alone.shape[1]]
        torch.testing.assert_close(alone[0], expected, atol=1e-5, rtol=1e-3)
