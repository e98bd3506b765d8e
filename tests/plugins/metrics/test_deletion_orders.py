"""The area between the curves, and normalised erasure: against every order of short texts, done by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import torch
from toy_evidence import Given, evidence_of, probability, texts, without

from attnx.plugin import Example
from attnx.testing.toy import ToyModel
from attnx_erasure.abpc import Abpc
from attnx_erasure.comprehensiveness import Comprehensiveness
from attnx_erasure.naopc import NormalisedAopc
from attnx_erasure.options import DeletionOptions, ErasureCurveOptions
from attnx_erasure.sufficiency import Sufficiency

BINS = (10.0, 34.0, 50.0)  # of six units: 1, 3 and 3
SIZES = (1, 3, 3)


def scores_of(order: tuple[int, ...]) -> list[float]:
    """Scores that put the units into this order."""
    return [float(-order.index(unit)) for unit in range(len(order))]


def curves(example: Example, order: tuple[int, ...], target: int) -> tuple[list[float], list[float]]:
    """By hand: p without the top k, and with only them, at the sizes and their complements."""
    model = ToyModel()
    sizes = [*SIZES, *(6 - size for size in SIZES)]
    tops = [set(order[:size]) for size in sizes]
    deletion = [probability(model, without(example, top), target) for top in tops]
    insertion = [probability(model, without(example, set(range(6)) - top), target) for top in tops]
    return deletion, insertion


@torch.no_grad()
def test_areas_are_those_of_texts_shortened_by_hand_and_the_reversed_order_gets_the_negative() -> None:
    examples = texts(3)
    orders = [(3, 1, 0, 5, 4, 2), (0, 1, 2, 3, 4, 5), (5, 2, 4, 0, 1, 3)]
    seen = evidence_of(Given([scores_of(order) for order in orders]), examples)
    found = Abpc(DeletionOptions(bins=BINS))(seen)
    backwards = evidence_of(Given([scores_of(order[::-1]) for order in orders]), examples)
    for row, (example, order) in enumerate(zip(examples, orders, strict=True)):
        deletion, insertion = curves(example, order, int(seen.explanation.target[row]))
        area = np.mean(insertion) - np.mean(deletion)
        assert found[row].tolist() == pytest.approx([area, np.mean(deletion), np.mean(insertion)], abs=1e-6)
    turned = Abpc(DeletionOptions(bins=BINS))(backwards)
    assert turned[:, 0].tolist() == pytest.approx((-found[:, 0]).tolist(), abs=1e-6)


@torch.no_grad()
def test_the_mean_area_over_all_orders_is_zero() -> None:
    (example,) = texts(1, size=4)
    found = [
        float(Abpc(DeletionOptions(bins=(25.0,)))(evidence_of(Given([scores_of(order)]), [example]))[0, 0])
        for order in permutations(range(4))
    ]
    assert np.mean(found) == pytest.approx(0, abs=1e-7)
    assert np.std(found) > 0.01


@torch.no_grad()
def test_half_of_the_area_is_comprehensiveness_and_sufficiency() -> None:
    seen = evidence_of(Given(np.random.default_rng(0).random((4, 6)).tolist()), texts(4))
    options = ErasureCurveOptions(bins=(50.0,))  # its complement is the same size
    area = Abpc(DeletionOptions(bins=(50.0,)))(seen)[:, 0]
    split = Comprehensiveness(options)(seen).values - Sufficiency(options)(seen).values
    assert area.tolist() == pytest.approx(split.tolist(), abs=1e-9)


@torch.no_grad()
def test_normalised_erasure_is_between_the_worst_and_the_best_of_all_orders() -> None:
    (example,) = texts(1, size=5, seed=3)
    bins, sizes = (20.0, 40.0, 60.0), (1, 2, 3)
    model, aopc = ToyModel(), {}
    target = int(evidence_of(Given([[0.0] * 5]), [example]).explanation.target[0])
    p = probability(model, example.units, target)
    for order in permutations(range(5)):
        falls = [p - probability(model, without(example, set(order[:size])), target) for size in sizes]
        aopc[order] = np.mean(falls)
    upper, lower = max(aopc.values()), min(aopc.values())
    for order in [max(aopc, key=aopc.__getitem__), min(aopc, key=aopc.__getitem__), (2, 0, 1, 4, 3)]:
        seen = evidence_of(Given([scores_of(order)]), [example])
        found = NormalisedAopc(DeletionOptions(bins=bins))(seen)[0].tolist()
        assert found == pytest.approx([(aopc[order] - lower) / (upper - lower), upper, lower], abs=1e-5)


@torch.no_grad()
def test_the_search_comes_close_to_the_extremes_of_many_texts() -> None:
    examples = texts(12, size=5, seed=1)
    found = NormalisedAopc(DeletionOptions(bins=(20.0, 40.0, 60.0)))(
        evidence_of(Given([[0.0] * 5] * 12), examples)
    )
    model = ToyModel()
    seen = evidence_of(Given([[0.0] * 5] * 12), examples)
    shares = []
    for row, example in enumerate(examples):
        target = int(seen.explanation.target[row])
        p = probability(model, example.units, target)
        falls = [
            np.mean([p - probability(model, without(example, set(o[:k])), target) for k in (1, 2, 3)])
            for o in permutations(range(5))
        ]
        assert float(found[row, 1]) <= max(falls) + 1e-6
        assert float(found[row, 2]) >= min(falls) - 1e-6
        shares.append(float(found[row, 1] - found[row, 2]) / (max(falls) - min(falls)))
    assert np.mean(shares) > 0.97


@torch.no_grad()
def test_a_single_word_and_a_model_that_never_reacts_are_undefined() -> None:
    single = evidence_of(Given([[1.0]]), texts(1, size=1))
    for metric in (Abpc(DeletionOptions()), NormalisedAopc(DeletionOptions())):
        assert metric(single)[0, 0].isnan()
    still = ToyModel()
    still.head.data.zero_()
    seen = evidence_of(Given([list(range(6))]), texts(1), still)
    assert NormalisedAopc(DeletionOptions())(seen)[0, 0].isnan()
    assert float(Abpc(DeletionOptions())(seen)[0, 0]) == pytest.approx(0, abs=1e-7)
