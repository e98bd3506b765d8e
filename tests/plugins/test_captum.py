"""The Captum methods: closed forms on a linear model, sums that must come out, brute force, and laws."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from explained_models import MODELS, Linear, explain
from sklearn.linear_model import Ridge
from torch import Tensor
from torch.nn import functional as F

from attnx.formulas import chunks
from attnx.host.cards import Component
from attnx.host.catalog import Catalog
from attnx.host.plugins import Plugin
from attnx.plugin import Batch, Card, Example, ImportanceMethod, Model, Trace, UsageError
from attnx.request.resolve import resolve
from attnx.request.spec import Choice, RunSpec
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import Named, attribute, trace_of
from attnx.testing import ToyModel, assert_conforms, toy_data
from attnx_captum import attnx_importances
from attnx_captum.output import baseline_of

CARDS = {card.name: card for card in attnx_importances()}
WITH_BASELINE = sorted(set(CARDS) - {"input-x-gradient"})
EXACT = {"gradient-shap": {"spread": 0}, "lime": {"regression": "linear"}}  # where the sampling cannot show
FEW = {name: {"samples": 24} for name in ("lime", "kernel-shap", "gradient-shap")} | {
    name: {"orders": 4} for name in ("shapley-sampling", "owen")
}

every_method = pytest.mark.parametrize("name", list(CARDS))
every_model = pytest.mark.parametrize("make", list(MODELS))


def method(name: str, **options: Any) -> ImportanceMethod:
    component = Component(CARDS[name], "importance", "captum", "attnx", "0")
    return component.load()(component.load_options()(**options))


def outputs(model: Model, trace: Trace, embeddings: Tensor, of: str = "probability") -> Tensor:
    """[B] of the predicted class."""
    with evaluating(model):
        logits = model.run(trace.batch, embeddings).logits.double()
        values = logits if of == "logit" else logits.softmax(-1)
        return values.gather(1, trace.predicted[:, None])[:, 0]


# Exact answers.


@every_method
@pytest.mark.parametrize("baseline", ["zero", "mean"])
def test_a_linear_model_has_one_answer(name: str, baseline: str) -> None:
    """±(x_i2 − b_i2)/n from every method, whose target is the logit."""
    chosen = {"baseline": baseline} if name in WITH_BASELINE else {}
    of = {} if name == "deeplift" else {"of": "logit"}
    trace, found = explain(Linear(), toy_data().test, method(name, **chosen, **of, **EXACT.get(name, {})))
    x = trace.embeddings[..., 1].double()
    mask, n = trace.batch.mask, trace.batch.lengths[:, None]
    mean = (x * mask).sum(1, keepdim=True) / n if chosen.get("baseline") == "mean" else 0
    sign = 2 * trace.predicted[:, None] - 1
    expected = (sign * (x - mean) / n).masked_fill(~mask, 0)
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=1e-4)


@every_model
@pytest.mark.parametrize("baseline", ["zero", "mean"])
def test_integrated_gradients_add_up_to_the_change_from_the_baseline(make: str, baseline: str) -> None:
    model, data = MODELS[make]()
    trace, found = explain(model, data.test, method("integrated-gradients", baseline=baseline, steps=200))
    instead = baseline_of(trace, baseline)  # type: ignore[arg-type]
    change = outputs(model, trace, trace.embeddings) - outputs(model, trace, instead)
    most = float(change.abs().max())
    assert most > 1e-3, "nothing to add up"
    torch.testing.assert_close(found.double().sum(1), change, atol=0.05 * most, rtol=0)


@pytest.mark.parametrize("make", ["toy", "words", "bilstm"])
def test_kernel_shap_adds_up_to_the_change_from_the_baseline(make: str) -> None:
    model, data = MODELS[make]()
    trace, found = explain(model, data.test, method("kernel-shap"))
    change = outputs(model, trace, trace.embeddings) - outputs(model, trace, baseline_of(trace, "zero"))
    torch.testing.assert_close(found.double().sum(1), change, atol=1e-4, rtol=0)


def shapley(model: Model, example: Example) -> Tensor:
    """[n] by the definition, over all subsets of the units."""
    batch = model.encode([example])
    with evaluating(model):
        trace = trace_of(model, batch)
    n = len(example.units)

    def p(units: tuple[int, ...]) -> Tensor:
        kept = torch.zeros(1, batch.mask.shape[1], 1, dtype=torch.bool)
        kept[0, list(units)] = True
        return outputs(model, trace, trace.embeddings * kept)[0]

    values = torch.zeros(n, dtype=torch.float64)
    for i, size in itertools.product(range(n), range(n)):
        share = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
        for others in itertools.combinations([j for j in range(n) if j != i], size):
            values[i] += share * (p((*others, i)) - p(others))
    return values


@pytest.mark.parametrize("make", ["toy", "words"])
def test_kernel_shap_approaches_the_shapley_values(make: str) -> None:
    model, data = MODELS[make]()
    examples = [
        replace(e, units=e.units[:5], rationale=e.rationale and e.rationale[:5]) for e in data.test[:4]
    ]
    _, found = explain(model, examples, method("kernel-shap", samples=4000))
    for row, example in enumerate(examples):
        expected = shapley(model, example)
        off = found[row, : len(expected)].double() - expected
        assert off.abs().max() < 0.02 * expected.abs().max() + 1e-4


def test_lime_is_a_ridge_regression_on_the_subsets_weighted_by_distance() -> None:
    """Against scikit-learn on all 2ⁿ subsets, which many draws weigh equally."""
    model, example = ToyModel(), toy_data().test[2]
    n, draws = len(example.units), 20000
    trace, found = explain(model, [example], method("lime", samples=draws, width=0.5, penalty=30))
    every = np.array(list(itertools.product([0, 1], repeat=n)))
    repeated = replace_rows(trace, len(every))
    kept = torch.from_numpy(every)[:, :, None]
    with evaluating(model):
        p = model.run(repeated, trace.embeddings * kept).probabilities[:, int(trace.predicted)]
    cosine = every.sum(1) / np.sqrt(n * np.maximum(every.sum(1), 1))
    weights = np.exp(-((1 - cosine) ** 2) / (2 * 0.5**2)) * draws / len(every)
    expected = Ridge(alpha=30).fit(every, p.numpy(), weights).coef_
    np.testing.assert_allclose(found[0].numpy(), expected, atol=0.003)


def replace_rows(trace: Trace, times: int) -> Batch:
    return trace.batch.take(torch.zeros(times, dtype=torch.long))


@pytest.mark.parametrize("make", ["toy", "words", "cnn"])
def test_ablation_is_the_change_when_one_embedding_is_replaced(make: str) -> None:
    model, data = MODELS[make]()
    trace, found = explain(model, data.test, method("feature-ablation", baseline="mean"))
    instead = baseline_of(trace, "mean")
    p = outputs(model, trace, trace.embeddings)
    for column in range(trace.batch.mask.shape[1]):
        changed = trace.embeddings.clone()
        changed[:, column] = instead[:, column]
        expected = (p - outputs(model, trace, changed)).masked_fill(~trace.batch.mask[:, column], 0)
        torch.testing.assert_close(found[:, column].double(), expected, atol=1e-6, rtol=1e-4)


def test_gradient_shap_without_noise_approaches_integrated_gradients() -> None:
    _, exact = explain(ToyModel(), toy_data().test, method("integrated-gradients"))
    _, found = explain(ToyModel(), toy_data().test, method("gradient-shap", samples=3000, spread=0))
    torch.testing.assert_close(found, exact, atol=5e-3, rtol=0)


def test_a_confident_model_keeps_its_gradient() -> None:
    model = ToyModel()
    ones = torch.ones(6, dtype=torch.long)
    _, calm = explain(model, toy_data().test, method("input-x-gradient", of="logit"), ones)
    with torch.no_grad():
        model.head.copy_(torch.tensor([[0.0, 0.0], [0.0, 100.0]]))
    trace, found = explain(model, toy_data().test, method("input-x-gradient"), ones)
    sure = trace.probabilities[:, 1] == 1  # in single precision, where its gradient would be 0
    assert sure.any()
    torch.testing.assert_close(F.normalize(found[sure], eps=0), F.normalize(calm[sure], eps=0))


@every_method
def test_absolute_values_are_those_without_sign(name: str) -> None:
    _, signed = explain(ToyModel(), toy_data().test, method(name))
    _, absolute = explain(ToyModel(), toy_data().test, method(name, absolute=True))
    assert (signed < 0).any()
    torch.testing.assert_close(absolute, signed.abs(), rtol=0, atol=0)


# Baselines, single units, passes.


@pytest.mark.parametrize("kind", ["zero", "mean"])
def test_only_units_have_a_baseline_of_their_own(kind: str) -> None:
    model, data = MODELS["bilstm"]()
    trace, _ = explain(model, data.test, method("input-x-gradient"))
    mask = trace.batch.mask
    assert (trace.batch.lengths > mask.sum(1)).all(), "no start and end marks"
    found = baseline_of(trace, kind)  # type: ignore[arg-type]
    assert torch.equal(found[~mask], trace.embeddings[~mask])
    for row, units in enumerate(mask):
        expected = trace.embeddings[row, units].mean(0) if kind == "mean" else torch.zeros(6)
        torch.testing.assert_close(found[row, units], expected.expand_as(found[row, units]))


@every_method
def test_a_single_unit_gets_a_value(name: str) -> None:
    alone = Example("alone", ("two",), 0)
    trace, found = explain(ToyModel(), [alone, *toy_data().test], method(name, **EXACT.get(name, {})))
    assert found[0, 0] != 0
    if name in ("lime", "kernel-shap", "feature-ablation"):
        p = outputs(ToyModel(), trace, trace.embeddings) - outputs(
            ToyModel(), trace, baseline_of(trace, "zero")
        )
        torch.testing.assert_close(found[0, 0].double(), p[0], atol=1e-6, rtol=1e-4)


@every_method
@pytest.mark.parametrize("columns", [1, 40])
def test_the_size_of_a_pass_changes_nothing(name: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = MODELS["bilstm"]()
    subject = method(name, **FEW.get(name, {}))
    _, expected = explain(model, data.test, subject)
    monkeypatch.setattr(chunks, "COLUMNS", columns)
    _, found = explain(model, data.test, subject)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-4)


# Draws belong to examples.


@every_method
@every_model
def test_results_are_independent_of_batch_order_and_padding(name: str, make: str) -> None:
    """In double precision: in single, a ReLU whose input rounds to the other side of 0 moves a gradient.

    Integrated gradients pass enough points for that to happen on some processors.
    """
    model, data = MODELS[make]()
    model.double()  # type: ignore[attr-defined]
    subject = method(name, **FEW.get(name, {}))
    _, together = explain(model, data.test, subject)
    _, backwards = explain(model, data.test[::-1], subject)
    torch.testing.assert_close(backwards.flip(0), together, atol=1e-9, rtol=1e-6)
    for row in (0, len(data.test) - 1):
        _, values = explain(model, [data.test[row]], subject)
        expected = together[row, : values.shape[1]]
        torch.testing.assert_close(values[0], expected, atol=1e-9, rtol=1e-6)


@pytest.mark.parametrize("name", ["lime", "kernel-shap", "gradient-shap"])
def test_another_seed_gives_other_draws_and_global_generators_are_untouched(name: str) -> None:
    states = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # type: ignore[union-attr]
    _, first = explain(ToyModel(), toy_data().test, method(name))
    _, again = explain(ToyModel(), toy_data().test, method(name))
    _, other = explain(ToyModel(), toy_data().test, method(name, seed=1))
    assert torch.equal(first, again)
    assert not torch.allclose(first, other, atol=1e-6)
    assert torch.equal(states[0], torch.random.get_rng_state())
    assert (states[1] == np.random.get_state()[1]).all()  # type: ignore[index]


# Laws and pairings.


@pytest.mark.parametrize("name", WITH_BASELINE)
def test_laws(name: str) -> None:
    assert_conforms("importance", method(name, baseline="mean", absolute=True))


def test_deeplift_is_refused_for_a_model_that_does_not_declare_the_rescale_rule() -> None:
    cards: dict[str, Any] = {
        "task": Card("texts", "attnx:Task", recommends=("recurrent",)),
        "model": Card("recurrent", "attnx:Model"),
        "projection": Card("softmax", "attnx:AttentionProjection"),
        "importance": CARDS["deeplift"],
        "metric": Card("any", "attnx:Metric"),
    }
    components = tuple(Component(card, kind, "some", "some", "0") for kind, card in cards.items())  # type: ignore[arg-type]
    spec = RunSpec(
        task=Choice(name="texts"), explanations=(Choice(name="deeplift"),), metrics=(Choice(name="any"),)
    )
    with pytest.raises(UsageError, match=r"'deeplift' needs non-linearities .* with model 'recurrent'"):
        resolve(spec, Catalog((Plugin("some", "some", "0", components),)))


def test_ablation_runs_the_model_once_for_every_unit_and_not_for_padding() -> None:
    model = ToyModel()
    with evaluating(model):
        trace = trace_of(model, model.encode(toy_data().test))
        found = attribute(Named("it", method("feature-ablation")), model, trace, trace.predicted)
    assert not trace.batch.mask.all()
    assert found.passes == trace.batch.mask.sum()
