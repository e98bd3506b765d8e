"""Removal and permutation of attention: against loops, on every kind of model, and with known verdicts."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch
from intervention_models import (
    MODELS,
    SENTENCES,
    Make,
    Winner,
    evidence_of,
    explained,
    measure,
    output,
    random_values,
    toy,
    unexplained,
    units_of,
)
from scipy.spatial.distance import jensenshannon
from torch import Tensor

from attnx.formulas import chunks
from attnx.plugin import Batch, Example, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.testing import ToyModel, toy_data
from attnx_intervention import permutation
from attnx_intervention.adversarial_attention import AdversarialAttention
from attnx_intervention.decision_flip import DecisionFlip
from attnx_intervention.delta_js import DeltaJs
from attnx_intervention.flip_fraction import FlipFraction
from attnx_intervention.options import AdversarialAttentionOptions, PermutationOptions
from attnx_intervention.permutation import Permutation
from attnx_intervention.ranking import ranked, top_and_other

REMOVALS = (DeltaJs(), DecisionFlip(), FlipFraction())
PERMUTATION = Permutation(PermutationOptions())
ADVERSARY = AdversarialAttention(AdversarialAttentionOptions(steps=60))
every_model = pytest.mark.parametrize("make", MODELS)


def without(a: np.ndarray, gone: list[int]) -> np.ndarray:
    left = a.copy()
    left[gone] = 0
    return left / left.sum()


@every_model
@pytest.mark.parametrize("about", [lambda e: e, random_values])
def test_removing_one_unit_is_what_a_loop_gives(make: Make, about: Any) -> None:
    evidence = about(evidence_of(*make()))
    pairs = top_and_other(evidence)
    found, cells = measure(DeltaJs(), evidence), measure(DecisionFlip(), evidence)
    for row in range(len(found)):
        a, values, columns = units_of(evidence, row)
        top, other = (columns.index(column) for column in pairs[row].tolist())
        assert values[top] == values.max()
        p = evidence.trace.logits[row].double().softmax(-1).numpy()
        q = [output(evidence, row, without(a, [gone])) for gone in (top, other)]
        js = [jensenshannon(p, x) ** 2 for x in q]
        flips = [int(x.argmax() != p.argmax()) for x in q]
        delta = js[0] - js[1]
        np.testing.assert_allclose(found[row, [0, 2]], [delta, a[top] - a[other]], atol=1e-6)
        assert found[row, 1] == float(delta < 0) or abs(delta) < 1e-9
        expected = [flips == [1, 1], flips == [1, 0], flips == [0, 1], flips == [0, 0]]
        assert cells[row].tolist() == expected


def test_a_random_order_is_wrong_half_the_time_however_little_the_output_changes() -> None:
    words = np.random.default_rng(0).choice(("one", "two", "three", "four", "five"), (400, 6))
    model = ToyModel()
    with torch.no_grad():
        model.head.mul_(1e-3)
    evidence = random_values(
        evidence_of(model, tuple(Example(str(i), tuple(w), 0) for i, w in enumerate(words)))
    )
    delta, negative, _ = measure(DeltaJs(), evidence).T
    assert delta.abs().max() < 1e-6
    assert 0.45 < negative.sum() / (delta != 0).sum() < 0.55  # equal words make no difference


@every_model
@pytest.mark.parametrize("at_once", [2**18, 40, 1])
def test_removing_until_the_decision_flips_is_what_a_loop_gives(
    make: Make, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "CELLS", at_once)
    evidence = random_values(evidence_of(*make()))
    found = measure(FlipFraction(), evidence)
    for row in range(len(found)):
        a, values, _ = units_of(evidence, row)
        order = np.argsort(-values, kind="stable").tolist()
        decision = int(evidence.trace.predicted[row])
        expected = [math.nan, math.nan, 1.0]
        for k in range(1, len(a)):
            if output(evidence, row, without(a, order[:k])).argmax() != decision:
                expected = [k / len(a), a[order[:k]].sum(), 0.0]
                break
        np.testing.assert_allclose(found[row], expected, atol=1e-6)
    assert 0 < found[:, 2].sum() < len(found)  # some flip and some never do


@every_model
def test_permuting_is_what_a_loop_over_permutations_gives(make: Make) -> None:
    evidence = evidence_of(*make())
    options = PermutationOptions(permutations=10)
    found = measure(Permutation(options), evidence)
    draws = evidence.random.to("permutations").uniform(evidence.trace.batch, 10)
    for row in range(len(found)):
        a, _, columns = units_of(evidence, row)
        p = evidence.trace.logits[row].double().softmax(-1).numpy()
        changes = [
            np.abs(p - output(evidence, row, a[np.argsort(draws[row, k, columns])])).sum() / 2
            for k in range(10)
        ]
        np.testing.assert_allclose(found[row], [np.median(changes), a.max()], atol=1e-6)


@pytest.mark.parametrize(("metric", "against"), [(DeltaJs(), 2), (PERMUTATION, 1)])
def test_curves_are_means_of_the_examples_in_each_bin(metric: Any, against: int) -> None:
    evidence = random_values(evidence_of(*toy()))
    with evaluating(evidence.model):
        values, curve = metric(evidence)
    for centre, mean in zip(metric.axis.points, curve.nanmean(0).tolist(), strict=True):
        inside = [v[0] for v in values.tolist() if abs(v[against] - centre) < 0.05]
        assert mean == pytest.approx(np.mean(inside) if inside else math.nan, nan_ok=True)
    assert (curve.isfinite().sum(1) == 1).all()


def test_every_permutation_of_the_units_is_as_likely_as_any_other() -> None:
    weights, mask = (
        torch.tensor([[0.0, 0.5, 0.0, 0.3, 0.2]]),
        torch.tensor([[False, True, False, True, True]]),
    )
    draws = torch.rand(1, 6000, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    permuted = permutation._permuted(weights, mask, draws)[0]
    assert (permuted[:, ~mask[0]] == 0).all()
    orders, counts = permuted[:, mask[0]].unique(dim=0, return_counts=True)
    assert len(orders) == 6
    assert scipy.stats.chisquare(counts.numpy()).pvalue > 0.001


def test_the_other_unit_is_any_but_the_top_one() -> None:
    model, examples = toy()
    drawn = []
    for seed in range(400):
        pair = top_and_other(evidence_of(model, examples[2:3], seed))[0].tolist()
        assert pair[0] == 4  # "four" has the highest score of these five units
        drawn.append(pair[1])
    assert scipy.stats.chisquare(np.bincount(drawn, minlength=5)[:4]).pvalue > 0.001
    assert 4 not in drawn


def test_equal_values_are_ranked_at_random_and_signs_count() -> None:
    model, examples = toy()
    zero = torch.zeros(1, 5)
    firsts = [int(ranked(evidence_of(model, examples[2:3], seed, zero))[0, 0]) for seed in range(400)]
    assert scipy.stats.chisquare(np.bincount(firsts, minlength=5)).pvalue > 0.001
    signed = torch.tensor([[-3.0, 0.5, -1.0, 2.0, 0.0]])
    assert ranked(evidence_of(model, examples[2:3], 0, signed)).tolist() == [[3, 1, 4, 2, 0]]


def test_masked_columns_rank_last_however_low_the_units_are() -> None:
    evidence = evidence_of(ToyModel(), toy_data().test, 0, torch.full((6, 6), -9.0))
    order, mask = ranked(evidence), evidence.trace.batch.mask
    counted = torch.arange(6)[None] < mask.sum(1, keepdim=True)
    assert torch.equal(mask.gather(1, order), counted)


class Spy(ToyModel):
    """Fails if anything is encoded again, and counts the calls of reattend."""

    asked: tuple[tuple[int, ...], ...] = ()
    sealed = False

    def embed(self, batch: Batch) -> Tensor:
        assert not self.sealed
        return super().embed(batch)

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        assert not self.sealed
        return super().run(batch, embeddings, attention=attention)

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        assert not self.sealed
        return super().decode(batch, hidden)

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        self.asked = (*self.asked, tuple(attention.shape))
        return super().reattend(trace, attention)


@pytest.mark.parametrize("metric", [*REMOVALS, PERMUTATION, ADVERSARY])
def test_nothing_is_encoded_again_and_alternatives_share_a_call(metric: Any) -> None:
    model = Spy()
    evidence = evidence_of(model, toy_data().test)
    model.sealed = True
    measure(metric, evidence)
    assert len(model.asked) <= 3
    assert all(len(shape) == 3 for shape in model.asked)


@every_model
@pytest.mark.parametrize("metric", [*REMOVALS, PERMUTATION, ADVERSARY])
def test_results_are_independent_of_the_batch_on_any_model(make: Make, metric: Any) -> None:
    model, examples = make()
    together = measure(metric, evidence_of(model, examples, seed=3))
    alone = torch.cat([measure(metric, evidence_of(model, (example,), seed=3)) for example in examples])
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=1e-4, equal_nan=True)


def test_where_no_weight_is_left_the_others_share_attention_equally() -> None:
    evidence = evidence_of(ToyModel(Winner()), toy_data().test)
    found = measure(DeltaJs(), evidence)
    for row in range(len(found)):
        a, _, _ = units_of(evidence, row)
        p = evidence.trace.logits[row].double().softmax(-1).numpy()
        others = np.where(a == 1, 0, 1 / (len(a) - 1))
        expected = jensenshannon(p, output(evidence, row, others)) ** 2  # removing another changes nothing
        np.testing.assert_allclose(found[row], [expected, 0, 1], atol=1e-7)
    assert not measure(DecisionFlip(), evidence).isnan().any()


def test_removing_a_unit_without_attention_changes_nothing() -> None:
    first = toy_data().test[:1]  # "one" wins over "two" and "three"
    values = torch.tensor([[0.0, 2.0, 1.0]])
    drawn = set()
    for seed in range(20):
        evidence = evidence_of(ToyModel(Winner()), first, seed, values)
        other = int(top_and_other(evidence)[0, 1])
        delta = measure(DeltaJs(), evidence)[0, 0]
        assert delta < 0 if other == 0 else delta == 0
        drawn.add(other)
    assert drawn == {0, 2}


def test_a_single_unit_is_undefined_for_removal_and_0_otherwise() -> None:
    examples = (Example("alone", ("two",), 0), *toy_data().test[:2])
    for shown in (examples, examples[:1]):
        evidence = evidence_of(ToyModel(), shown)
        for metric in REMOVALS:
            assert measure(metric, evidence)[0].isnan().all()
        assert measure(PERMUTATION, evidence)[0].tolist() == [0, 1]
        assert measure(ADVERSARY, evidence)[0].tolist() == pytest.approx([0, 1])


def test_attention_that_is_the_explanation_is_found_to_be() -> None:
    evidence = evidence_of(*explained())
    counts = torch.tensor([float(len(example.units)) for example in SENTENCES], dtype=torch.float64)
    delta, negative, gap = measure(DeltaJs(), evidence).unbind(1)
    assert (delta > 0.3).all()
    assert (negative == 0).all()
    assert (gap > 0.98).all()
    assert measure(DecisionFlip(), evidence).tolist() == [[0, 1, 0, 0]] * len(counts)
    fraction, mass, never = measure(FlipFraction(), evidence).unbind(1)
    torch.testing.assert_close(fraction, 1 / counts)
    assert (mass > 0.98).all()  # the right units hold all of it, so that less mass cannot be better
    assert [measure.direction for measure in FlipFraction.measures] == ["down", "none", "none"]
    assert (never == 0).all()
    # a permutation leaves the decider its weight once in n times, so the median one does not
    assert (measure(PERMUTATION, evidence)[:, 0] > 0.7).all()
    assert (measure(ADVERSARY, evidence)[:, 0] < 0.02).all()


def test_attention_that_explains_nothing_is_found_not_to() -> None:
    evidence = evidence_of(*unexplained())
    delta, negative, gap = measure(DeltaJs(), evidence).unbind(1)
    assert (delta.abs() < 1e-9).all()
    assert (negative == 0).all()
    assert (gap > 0.98).all()
    assert measure(DecisionFlip(), evidence).tolist() == [[0, 0, 0, 1]] * len(SENTENCES)
    flips = measure(FlipFraction(), evidence)
    assert flips[:, :2].isnan().all()
    assert (flips[:, 2] == 1).all()
    assert (measure(PERMUTATION, evidence)[:, 0] < 1e-6).all()
    far = measure(AdversarialAttention(AdversarialAttentionOptions()), evidence)
    assert (far[:, 0] > 0.6).all()
    assert (far[:, 1] == 1).all()  # ln 2 is .693


def test_a_worse_ranking_needs_more_removals() -> None:
    model, examples = explained()
    best = measure(FlipFraction(), evidence_of(model, examples))[:, 0]
    attention = evidence_of(model, examples).trace.attention
    worst = measure(FlipFraction(), evidence_of(model, examples, 0, -attention))
    assert (worst[:, 2] == 1).all()  # the decider is removed last, when nothing else is left
    assert not best.isnan().any()
