"""Mixtures of three units that keep three logits: against brute force, and as starts of the search."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from intervention_models import evidence_of, query_bilstm
from torch import Tensor

from attnx.formulas import js_divergence
from attnx.plugin import Evidence
from attnx.run.evaluation_mode import evaluating
from attnx_intervention.adversarial_attention import AdversarialAttention
from attnx_intervention.decoders import logits_of_units
from attnx_intervention.options import AdversarialAttentionOptions
from attnx_intervention.triangles import farthest_triangle


def drawn(columns: int, rows: int = 6, seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Attention [B, L], logits of single units [B, L, 3] and of the attention [B, 3], and a mask [B, L]."""
    generator = torch.Generator().manual_seed(seed)
    mask = torch.ones(rows, columns, dtype=torch.bool)
    mask[0, columns // 2 :] = False
    scores = 2 * torch.randn(rows, columns, generator=generator, dtype=torch.float64)
    a = scores.masked_fill(~mask, -torch.inf).softmax(1)
    single = 3 * torch.randn(rows, columns, 3, generator=generator, dtype=torch.float64)
    return a, single, (a[..., None] * single).sum(1), mask


def by_brute_force(a: Tensor, single: Tensor, logits: Tensor, mask: Tensor) -> float:
    """The largest JS(α, a) of one row, from a system of equations for every three units."""
    best = -math.inf
    for units in combinations(mask.nonzero()[:, 0].tolist(), 3):
        v = single[list(units)].numpy()  # [3, 3]
        equations = np.stack([v[:, 1] - v[:, 0], v[:, 2] - v[:, 0], np.ones(3)])
        right = np.array([float(logits[1] - logits[0]), float(logits[2] - logits[0]), 1.0])
        share = np.linalg.solve(equations, right)
        if (share >= 0).all():
            alpha = torch.zeros_like(a)
            alpha[list(units)] = torch.from_numpy(share)
            best = max(best, float(js_divergence(alpha, a)))
    return best


@pytest.mark.parametrize("columns", [3, 5, 12])
@pytest.mark.parametrize("seed", range(3))
def test_the_farthest_triangle_is_that_of_brute_force(columns: int, seed: int) -> None:
    a, single, logits, mask = drawn(columns, seed=seed)
    found = farthest_triangle(a, single, logits, mask)
    for row in range(len(a)):
        expected = by_brute_force(a[row], single[row], logits[row], mask[row])
        if math.isinf(expected):
            assert found[row].isnan().all()
        else:
            assert float(js_divergence(found[row], a[row])) == pytest.approx(expected, abs=1e-9)


def test_a_triangle_keeps_the_output_and_is_a_distribution_over_the_mask() -> None:
    a, single, logits, mask = drawn(20)
    found = farthest_triangle(a, single, logits, mask)
    assert not found.isnan().any()
    kept = (found[..., None] * single).sum(1).softmax(-1)
    torch.testing.assert_close(kept, logits.softmax(-1))
    torch.testing.assert_close(found.sum(1), torch.ones(len(a), dtype=torch.float64))
    assert (found >= 0).all()
    assert (found > 0).sum(1).max() == 3
    assert (found[~mask] == 0).all()


def test_of_many_units_those_of_every_direction_are_tried() -> None:
    a, single, logits, mask = drawn(200, rows=4)
    found = farthest_triangle(a, single, logits, mask)
    assert not found.isnan().any()
    assert (js_divergence(found, a) > 0.99 * math.log(2)).all(), "there are far ones among two hundred"


def three_classes(seed: int) -> Evidence:
    return evidence_of(*query_bilstm(seed))


@pytest.mark.parametrize("seed", range(4))
def test_the_search_of_three_classes_is_nowhere_below_the_best_triangle(seed: int) -> None:
    evidence = three_classes(seed)
    with evaluating(evidence.model):
        single = logits_of_units(evidence)
        found = AdversarialAttention(AdversarialAttentionOptions())(evidence)[:, 0]
    trace = evidence.trace
    assert single.shape[-1] == 3
    for row in range(len(found)):
        of_row = (t[row].double() for t in (trace.attention, single, trace.logits))
        expected = by_brute_force(*of_row, trace.batch.mask[row])  # type: ignore[call-arg]
        assert float(found[row]) >= expected - 1e-5


def test_without_mixtures_the_search_starts_only_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Tensor:
        raise AssertionError("not asked for")

    monkeypatch.setattr("attnx_intervention.adversarial_attention.farthest_triangle", refuse)
    evidence = three_classes(0)
    with evaluating(evidence.model):
        found = AdversarialAttention(AdversarialAttentionOptions(mixtures=0, steps=5))(evidence)
    assert found[:, 0].isfinite().all()
