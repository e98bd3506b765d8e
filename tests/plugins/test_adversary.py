"""The adversary: its gradient, its constraint, and its optimum against other searches."""

import math
from typing import Any

import pytest
import torch
from intervention_models import (
    MODELS,
    Make,
    Winner,
    evidence_of,
    explained,
    han,
    linear_fcam,
    measure,
    mlp_fcam,
    query_bilstm,
    toy,
    unexplained,
)
from torch import Tensor

from attnx.formulas import js_divergence, total_variation
from attnx.plugin import Evidence, Example
from attnx.run.evaluation_mode import evaluating
from attnx.testing import ToyModel, toy_data
from attnx_intervention import adversarial_attention
from attnx_intervention.adversarial_attention import (
    INSIDE,
    AdversarialAttention,
    allowed_change,
    random_starts,
    starts,
)
from attnx_intervention.adversary import Objective, search
from attnx_intervention.decoders import Change, DecodedChange, LinearChange, change_of, logits_of_units
from attnx_intervention.options import AdversarialAttentionOptions

OPTIONS = AdversarialAttentionOptions()
every_model = pytest.mark.parametrize("make", MODELS)


def attentions(evidence: Evidence, count: int = 5) -> Tensor:
    """[B, K, L] random attentions, 0 off the mask."""
    return scores(evidence, count).softmax(-1)


def scores(evidence: Evidence, count: int = 5) -> Tensor:
    """[B, K, L] what a search starts from, as precise as the model."""
    return random_starts(evidence, count).to(evidence.trace.attention)


def chosen(evidence: Evidence) -> Change:
    with evaluating(evidence.model):
        return change_of(evidence, logits_of_units(evidence))


def searched(make: Make) -> Evidence:
    """Evidence of a model that does not say whether its logits are linear in attention."""
    model, examples = make()
    model.provides = tuple(word for word in model.provides if word != "linear-decoder")
    return evidence_of(model, examples)


def found_by(evidence: Evidence, change: Change, epsilon: float = 0.01, steps: int = 500) -> Tensor:
    with evaluating(evidence.model):
        a = evidence.trace.attention
        return search(a, scores(evidence), change, INSIDE * epsilon, steps, 0.01)[0]


def change_under(evidence: Evidence, weights: Tensor) -> Tensor:
    """[B, K] total variation, one alternative at a time."""
    with evaluating(evidence.model):
        logits = [evidence.model.reattend(evidence.trace, w) for w in weights.float().unbind(1)]
    q = torch.stack(logits, 1).double().softmax(-1)
    return total_variation(evidence.trace.logits.double().softmax(-1)[:, None], q)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_objective_has_the_gradient_of_its_divergences(count: int) -> None:
    generator = torch.Generator().manual_seed(0)
    a = torch.rand(3, 7, generator=generator, dtype=torch.float64).softmax(-1)
    z = torch.randn(count, 3, 7, generator=generator, dtype=torch.float64).requires_grad_()
    alpha = z.softmax(-1)
    value = js_divergence(alpha, a).sum()
    for j in range(count):
        for k in range(j):
            value = value + js_divergence(alpha[j], alpha[k]).sum() / (count * (count - 1))
    (expected,) = torch.autograd.grad(value, z)
    js, gradient = Objective(a, count)(alpha.detach())
    inner = alpha.detach()
    by_score = inner * (gradient - (gradient * inner).sum(-1, keepdim=True))
    torch.testing.assert_close(by_score, expected, atol=1e-12, rtol=1e-9)
    torch.testing.assert_close(js, js_divergence(inner, a), atol=1e-12, rtol=1e-9)


@pytest.mark.parametrize("make", [toy, linear_fcam, query_bilstm, han])
def test_the_closed_form_of_a_linear_decoder_is_what_autograd_gives(make: Make) -> None:
    evidence = evidence_of(*make())
    closed = chosen(evidence)
    assert isinstance(closed, LinearChange)
    points = attentions(evidence, 7)
    with evaluating(evidence.model):
        moved, gradient = closed(points)
        expected, slope = DecodedChange(evidence)(points)
    torch.testing.assert_close(moved, expected, atol=1e-6, rtol=1e-5)
    on = evidence.trace.batch.mask[:, None].expand_as(points)
    shift = (gradient - slope).masked_fill(~on, 0).sum(-1, keepdim=True) / on.sum(-1, keepdim=True)
    # a gradient on the simplex is known up to a constant over the units
    torch.testing.assert_close((gradient - shift)[on], slope[on], atol=2e-5, rtol=1e-3)


def test_any_other_decoder_goes_through_the_model() -> None:
    assert isinstance(chosen(evidence_of(*mlp_fcam())), DecodedChange)
    assert isinstance(chosen(searched(toy)), DecodedChange)


@pytest.mark.parametrize("make", [toy, linear_fcam, query_bilstm, han])
def test_closed_form_and_autograd_find_the_same(make: Make) -> None:
    evidence = evidence_of(*make())
    fast, slow = (found_by(evidence, change) for change in (chosen(evidence), DecodedChange(evidence)))
    a = evidence.trace.attention[:, None]
    torch.testing.assert_close(js_divergence(fast, a), js_divergence(slow, a), atol=2e-3, rtol=0)


def reference(evidence: Evidence, epsilon: float, steps: int) -> tuple[Tensor, Tensor]:
    """The original optimisation: autograd through everything, and torch's Adam.

    ε-max JSD of the attentions it ends at, and of all that it visits: [B], [B].
    """
    a, outside = evidence.trace.attention.double()[:, None] + 1e-12, ~evidence.trace.batch.mask[:, None]
    p = evidence.trace.logits.double().softmax(-1)[:, None]
    z = random_starts(evidence, 5).masked_fill(outside, 0.0).requires_grad_()
    optimizer = torch.optim.Adam([z], lr=0.01, amsgrad=True)
    best = torch.zeros(len(a), dtype=torch.float64)
    for _ in range(steps + 1):
        alpha = z.masked_fill(outside, -1e9).softmax(-1) + 1e-12  # [B, K, L]
        q = evidence.model.reattend(evidence.trace, alpha.float()).double().softmax(-1)
        moved, js = total_variation(p, q), js_divergence(alpha, a)  # [B, K]
        at_end = js.detach().masked_fill(moved > epsilon, 0.0).amax(1)
        best = torch.maximum(best, at_end)
        mutual = js_divergence(alpha[:, :, None], alpha[:, None]).sum() / 2  # each pair once
        loss = 500 * (moved - epsilon).relu().sum() - js.sum() - mutual / 20
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return at_end, best


@pytest.mark.parametrize(
    ("make", "epsilon"), [(toy, 0.01), (linear_fcam, 0.01), (mlp_fcam, 0.01), (query_bilstm, 0.05)]
)
def test_the_optimum_is_that_of_the_original_optimisation(make: Make, epsilon: float) -> None:
    evidence = searched(make)
    evidence.model.requires_grad_(False)
    at_end, visited = reference(evidence, epsilon, 250)
    options = AdversarialAttentionOptions(epsilon=epsilon, steps=250, mixtures=0)
    found = measure(AdversarialAttention(options), evidence)[:, 0]
    torch.testing.assert_close(found, visited, atol=3e-3, rtol=0)
    assert (found >= at_end - 3e-3).all()
    assert (found > 0.05).any()


def grid_optimum(evidence: Evidence, epsilon: float) -> Tensor:
    """[B] the largest divergence on a fine grid of the triangle, for examples of three units."""
    side = torch.linspace(0, 1, 401, dtype=torch.float64)
    first, second = torch.meshgrid(side, side, indexing="ij")
    inside = first + second <= 1 + 1e-12
    points = torch.stack([first[inside], second[inside], (1 - first - second)[inside].clamp_min(0)], -1)
    every = points.expand(len(evidence.trace.batch), -1, -1)  # [B, G, 3]
    with evaluating(evidence.model):
        q = evidence.model.reattend(evidence.trace, every.float()).double().softmax(-1)
    moved = total_variation(evidence.trace.logits.double().softmax(-1)[:, None], q)
    js = js_divergence(every, evidence.trace.attention.double()[:, None])
    return js.masked_fill(moved > epsilon, 0.0).amax(1)


def test_the_optimum_is_that_of_an_exhaustive_search() -> None:
    words = [
        ("one", "two", "three"),
        ("four", "five", "two"),
        ("five", "one", "four"),
        ("three", "five", "one"),
    ]
    examples = tuple(Example(f"t{i}", w, 0) for i, w in enumerate(words))
    exact = measure(AdversarialAttention(OPTIONS), evidence_of(ToyModel(), examples))[:, 0]
    evidence = searched(lambda: (ToyModel(), examples))
    expected = grid_optimum(evidence, 0.01)
    assert (exact >= expected - 1e-6).all()
    for adversaries, mixtures in ((5, 0), (60, 0), (5, 2)):
        options = AdversarialAttentionOptions(adversaries=adversaries, mixtures=mixtures)
        found = measure(AdversarialAttention(options), evidence)[:, 0]
        assert (torch.maximum(found, exact) <= expected + 0.005).all()  # the grid has its own step
        if adversaries > 5 or mixtures:  # from many starts, or good ones, the best attention is found
            assert (found >= 0.95 * expected).all()


@pytest.mark.parametrize(("make", "gain"), [(mlp_fcam, 1.1), (query_bilstm, 1.02)])
def test_a_search_that_starts_from_mixtures_goes_farther_on_average(make: Any, gain: float) -> None:
    means = torch.zeros(2, dtype=torch.float64)
    for seed in range(4):
        evidence = evidence_of(*make(seed))
        for column, mixtures in enumerate((0, 2)):
            options = AdversarialAttentionOptions(steps=250, mixtures=mixtures)
            means[column] += measure(AdversarialAttention(options), evidence)[:, 0].mean() / 4
    assert means[1] > gain * means[0]


def test_searches_start_from_mixtures_first_and_at_random_where_there_are_none() -> None:
    evidence = evidence_of(*query_bilstm())
    options = AdversarialAttentionOptions(mixtures=9, adversaries=3)
    with evaluating(evidence.model):
        begun = starts(evidence, logits_of_units(evidence), options)
    at_random = random_starts(evidence, 3)
    differs = (begun != at_random).any(-1)  # [B, K]
    assert differs[:, 0].all()
    assert not differs[0, 2], "an example of two units has no third mixture"
    shares = begun.softmax(-1)  # [B, K, L]
    assert (shares[:, :2][differs[:, :2]].topk(2, -1).values.sum(-1) > 0.998).all(), "two units"
    assert (shares[:, 2][differs[:, 2]].topk(3, -1).values.sum(-1) > 0.998).all(), "three of three classes"
    assert (shares[:, 2][differs[:, 2]].topk(2, -1).values.sum(-1) < 0.99).any()


@every_model
@pytest.mark.parametrize("epsilon", [0.01, 0.05])
def test_no_adversary_violates_its_constraint_or_leaves_the_mask(make: Make, epsilon: float) -> None:
    evidence = evidence_of(*make())
    found = found_by(evidence, chosen(evidence), epsilon, steps=150)
    assert (change_under(evidence, found) <= epsilon).all()
    outside = ~evidence.trace.batch.mask[:, None].expand_as(found)
    assert (found[outside] == 0).all()
    torch.testing.assert_close(found.sum(-1), torch.ones_like(found[..., 0]), atol=1e-6, rtol=0)


class Wrong:
    """Claims that no attention changes the output."""

    def __init__(self, *_: Any) -> None: ...

    def __call__(self, attention: Tensor) -> tuple[Tensor, Tensor]:
        return torch.zeros_like(attention[..., 0]), torch.zeros_like(attention)


def test_the_verdict_rests_on_the_model_and_not_on_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adversarial_attention, "change_of", Wrong)
    strict = OPTIONS.model_copy(update={"epsilon": 1e-9})  # no random attention comes that near by chance
    values = measure(AdversarialAttention(strict), searched(explained))
    assert (values == 0).all()


def test_a_looser_constraint_lets_attention_go_farther() -> None:
    evidence = evidence_of(*explained())
    jsd = [
        measure(AdversarialAttention(AdversarialAttentionOptions(epsilon=epsilon)), evidence)[:, 0]
        for epsilon in (0.01, 0.05, 0.2)
    ]
    assert (jsd[0] < jsd[1]).all()
    assert (jsd[1] < jsd[2]).all()


def test_mutual_divergence_keeps_adversaries_apart() -> None:
    evidence = evidence_of(*unexplained())
    found = found_by(evidence, chosen(evidence))
    alone = torch.stack([found_alone(evidence, k) for k in range(5)], dim=1)
    together = js_divergence(found[:, :, None], found[:, None]).sum()
    assert together > js_divergence(alone[:, :, None], alone[:, None]).sum()


def found_alone(evidence: Evidence, k: int) -> Tensor:
    """[B, L] the k-th adversary when it is searched for by itself."""
    with evaluating(evidence.model):
        start = scores(evidence)[:, k : k + 1]
        return search(evidence.trace.attention, start, chosen(evidence), 0.01, 500, 0.01)[0][:, 0]


def test_starts_are_normal_with_deviation_3_and_belong_to_the_units() -> None:
    examples = tuple(Example(f"n{i}", ("one", "two", "three", "four"), 0) for i in range(2000))
    scores = random_starts(evidence_of(ToyModel(), examples), 5)
    assert scores.mean().abs() < 0.05
    assert abs(scores.std() - 3) < 0.05
    assert abs((scores.abs() < 3).double().mean() - math.erf(math.sqrt(0.5))) < 0.01
    padded = random_starts(evidence_of(ToyModel(), (*toy_data().test, examples[7])), 5)[-1]
    assert torch.equal(padded[:, :4], scores[7])
    assert (padded[:, 4:] == -torch.inf).all()


def test_an_example_without_units_is_undefined_and_harms_no_other() -> None:
    examples = (*toy_data().test, Example("empty", (), 0))
    metric = AdversarialAttention(AdversarialAttentionOptions(steps=20))
    values = measure(metric, evidence_of(ToyModel(), examples))
    assert values[-1].isnan().all()
    torch.testing.assert_close(values[:-1], measure(metric, evidence_of(ToyModel(), examples[:-1])))


def test_sparse_attention_is_attacked_all_the_same() -> None:
    evidence = evidence_of(ToyModel(Winner()), toy_data().test)
    values = measure(AdversarialAttention(OPTIONS), evidence)
    assert values.isfinite().all()
    assert (values[:, 0] > 0.05).any()


def test_a_question_allows_the_output_to_move_five_times_as_far() -> None:
    for make, epsilon in ((toy, 0.01), (query_bilstm, 0.05)):
        evidence = evidence_of(*make())
        assert allowed_change(evidence, AdversarialAttentionOptions()) == epsilon
        assert allowed_change(evidence, AdversarialAttentionOptions(epsilon=0.02)) == 0.02
