"""Metrics of random subsets: against numpy on texts shortened by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from toy_evidence import Given, evidence_of, probability, texts, without

from attnx.plugin import Evidence
from attnx.testing.toy import ToyModel
from attnx_subsets.faithfulness_correlation import FaithfulnessCorrelation
from attnx_subsets.infidelity import Infidelity
from attnx_subsets.options import InfidelityOptions, SubsetOptions
from attnx_subsets.subset_effects import _subsets

OPTIONS = InfidelityOptions(subsets=20, share=34)
SCORES = np.random.default_rng(1).normal(size=(4, 6)).tolist()


def by_hand(seen: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """[B, K] summed scores, and changes of the output, of the same subsets."""
    subsets = _subsets(seen, OPTIONS).numpy()
    sums, effects = [], []
    for row, example in enumerate(seen.trace.batch.examples):
        target = int(seen.explanation.target[row])
        p = probability(ToyModel(), example.units, target)
        places = [set(np.flatnonzero(subset).tolist()) for subset in subsets[row]]
        sums.append([sum(SCORES[row][place] for place in gone) for gone in places])
        effects.append([p - probability(ToyModel(), without(example, gone), target) for gone in places])
    return np.array(sums), np.array(effects)


@torch.no_grad()
def test_correlation_and_infidelity_are_those_of_numpy() -> None:
    seen = evidence_of(Given(SCORES, signed=True), texts(4))
    sums, effects = by_hand(seen)
    r = [np.corrcoef(x, y)[0, 1] for x, y in zip(sums, effects, strict=True)]
    assert FaithfulnessCorrelation(OPTIONS)(seen).tolist() == pytest.approx(r, abs=1e-4)
    free, positive = (
        Infidelity(OPTIONS.model_copy(update={"scale": scale}))(seen) for scale in ("any", "positive")
    )
    for row, (x, y) in enumerate(zip(sums, effects, strict=True)):
        beta, *_ = np.linalg.lstsq(x[:, None], y, rcond=None)
        error = np.mean((x * beta - y) ** 2)
        assert float(free[row, 0]) == pytest.approx(error, abs=1e-6)
        assert float(free[row, 1]) == pytest.approx(error / np.mean(y**2), rel=1e-3)
        expected = error if beta > 0 else np.mean(y**2)
        assert float(positive[row, 0]) == pytest.approx(expected, abs=1e-6)


@torch.no_grad()
def test_turned_around_scores_correlate_negatively_and_predict_nothing() -> None:
    seen = evidence_of(Given(SCORES, signed=True), texts(4))
    turned = evidence_of(Given((-np.array(SCORES)).tolist(), signed=True), texts(4))
    right, wrong = (FaithfulnessCorrelation(OPTIONS)(of) for of in (seen, turned))
    assert wrong.tolist() == pytest.approx((-right).tolist(), abs=1e-9)
    any_scale = Infidelity(OPTIONS.model_copy(update={"scale": "any"}))
    assert torch.allclose(any_scale(seen), any_scale(turned))  # as the paper's formula has it
    shares = torch.stack([Infidelity(OPTIONS)(of)[:, 1] for of in (seen, turned)])
    assert shares.amax(0).tolist() == pytest.approx([1.0] * 4)  # one of the two points the wrong way
    assert bool((shares.amin(0) < 1).all())


@torch.no_grad()
def test_one_word_subsets_and_their_true_effects_are_perfect() -> None:
    examples, model = texts(3, size=4), ToyModel()
    target = evidence_of(Given([[0.0] * 4] * 3), examples).explanation.target.tolist()
    effects = [
        [probability(model, e.units, t) - probability(model, without(e, {place}), t) for place in range(4)]
        for e, t in zip(examples, target, strict=True)
    ]
    seen = evidence_of(Given(effects, signed=True), examples)
    options = InfidelityOptions(subsets=30, share=25)
    assert FaithfulnessCorrelation(options)(seen).tolist() == pytest.approx([1.0] * 3, abs=1e-4)
    assert Infidelity(options)(seen)[:, 0].tolist() == pytest.approx([0.0] * 3, abs=1e-9)


@torch.no_grad()
def test_every_unit_is_drawn_equally_often_and_one_always_stays() -> None:
    seen = evidence_of(Given([[0.0] * 5] * 2), texts(2, size=5))
    drawn = _subsets(seen, SubsetOptions(subsets=1000, share=40))
    assert drawn.sum(2).eq(2).all()
    assert drawn.double().mean(1).numpy() == pytest.approx(np.full((2, 5), 0.4), abs=0.06)
    pair = evidence_of(Given([[0.0] * 2]), texts(1, size=2))
    assert _subsets(pair, SubsetOptions(share=99)).sum(2).eq(1).all()
    single = evidence_of(Given([[1.0]]), texts(1, size=1))
    assert FaithfulnessCorrelation(SubsetOptions())(single).isnan().all()
    assert Infidelity(InfidelityOptions())(single).isnan().all()


@torch.no_grad()
def test_a_model_that_never_reacts_has_no_correlation_and_no_error() -> None:
    model = ToyModel()
    model.head.data.zero_()
    seen = evidence_of(Given(SCORES), texts(4), model)
    assert FaithfulnessCorrelation(OPTIONS)(seen).isnan().all()
    found = Infidelity(OPTIONS)(seen)
    assert found[:, 0].tolist() == pytest.approx([0.0] * 4, abs=1e-12)
    assert found[:, 1].isnan().all()
