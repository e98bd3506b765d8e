"""Soft erasure at a fixed share: against closed forms, and masks applied by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_evidence import Given, evidence_of, texts

from attnx.plugin import Evidence
from attnx.testing.toy import ToyModel
from attnx_soft_erasure.options import SoftErasureOptions
from attnx_soft_erasure.soft_comprehensiveness import SoftComprehensiveness
from attnx_soft_erasure.soft_masks import retention
from attnx_soft_erasure.soft_sufficiency import SoftSufficiency

OPTIONS = SoftErasureOptions(retained=(20, 50), draws=3)


@settings(max_examples=80)
@given(st.lists(st.floats(-1, 5, allow_subnormal=False), min_size=1, max_size=10), st.floats(0.05, 0.95))
def test_what_is_kept_sums_to_the_share_and_is_as_proportional_as_can_be(
    scores: list[float], share: float
) -> None:
    values = torch.tensor([[*scores, 0.0, 0.0]], dtype=torch.float64)  # two columns of padding
    mask = torch.arange(values.shape[1])[None] < len(scores)
    found = retention(values, mask, share)[0].numpy()
    q, positive = found[: len(scores)], np.maximum(scores, 0)
    assert found[len(scores) :].tolist() == [0, 0]
    assert q.min() >= -1e-12
    assert q.max() <= 1 + 1e-9
    assert q.sum() == pytest.approx(share * len(scores))
    inside = (q < 1 - 1e-9) & (positive > 1e-6)
    if inside.any():  # one factor for all that are not cut
        factor = q[inside] / positive[inside]
        assert factor == pytest.approx(np.full(inside.sum(), factor.mean()), rel=1e-6)
        assert q[positive == 0] == pytest.approx(np.zeros((positive == 0).sum()), abs=1e-9)


def test_a_larger_sum_keeps_no_more_and_equal_scores_keep_the_share_of_each() -> None:
    mask = torch.ones(3, 4, dtype=torch.bool)
    values = torch.tensor([[1.0, 2, 3, 4], [10, 20, 30, 40], [7, 7, 7, 7]])
    found = retention(values, mask, 0.25)
    assert found[0].tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert torch.allclose(found[0], found[1])
    assert found[2].tolist() == pytest.approx([0.25] * 4)
    one = retention(
        torch.tensor([[1.0, 0, 0, 0]]), mask[:1], 0.5
    )  # the first whole, one unit's worth is left
    assert one[0].tolist() == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3])


def by_hand(seen: Evidence, *, keep_top: bool) -> list[float]:
    """Mask every coordinate of every embedding with a loop, and run the model on what is left."""
    trace, batch, found = seen.trace, seen.trace.batch, []
    for row in range(len(batch)):
        target = int(seen.explanation.target[row])

        def p(embeddings: torch.Tensor, row: int = row, target: int = target) -> float:
            return float(
                seen.model.run(batch.take(torch.tensor([row])), embeddings)
                .logits.double()
                .softmax(-1)[0, target]
            )

        x = trace.embeddings[[row]]
        falls = []
        for draw in range(OPTIONS.draws):
            u = seen.random.to(f"soft erasure {draw}").uniform(batch, 2)[row]  # [E, L]
            for share in OPTIONS.retained:
                q = retention(seen.explanation.values, batch.mask, share / 100)[row]
                masked = x.clone()
                for unit in range(x.shape[1]):
                    for coordinate in range(2):
                        kept = u[coordinate, unit] < (q[unit] if keep_top else 1 - q[unit])
                        masked[0, unit, coordinate] *= float(kept)
                falls.append(max(0.0, p(x) - p(masked)))
        share_lost = np.mean(falls) / max(0.0, p(x) - p(torch.zeros_like(x)))
        found.append(1 - min(share_lost, 1) if keep_top else min(share_lost, 1))
    return found


@torch.no_grad()
def test_values_are_those_of_masks_applied_by_hand() -> None:
    seen = evidence_of(Given(np.random.default_rng(0).random((5, 6)).tolist()), texts(5))
    p = seen.trace.probabilities.amax(1)
    assert bool((p > 0.52).all()), "the toy model gives .5 for zeros"
    assert SoftSufficiency(OPTIONS)(seen).tolist() == pytest.approx(by_hand(seen, keep_top=True), abs=1e-5)
    assert SoftComprehensiveness(OPTIONS)(seen).tolist() == pytest.approx(
        by_hand(seen, keep_top=False), abs=1e-5
    )


@torch.no_grad()
def test_it_is_undefined_where_zeros_give_the_same_output() -> None:
    model = ToyModel()
    model.head.data.zero_()
    still = evidence_of(Given([[1.0] * 6]), texts(1), model)
    for metric in (SoftSufficiency(OPTIONS), SoftComprehensiveness(OPTIONS)):
        assert metric(still).isnan().all()
