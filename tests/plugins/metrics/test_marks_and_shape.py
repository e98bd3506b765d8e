"""Relevance mass, area under ROC, reciprocal rank, Gini and shared top units: by scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from toy_evidence import Given, evidence_of, texts

from attnx.plugin import Evidence, Example
from attnx_agreement.feature_agreement import FeatureAgreement
from attnx_agreement.options import FeatureAgreementOptions
from attnx_plausibility.reciprocal_rank import ReciprocalRank
from attnx_plausibility.relevance_mass import RelevanceMass
from attnx_plausibility.roc_auc import RocAuc
from attnx_shape.gini import Gini

marked_scores = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=8)


def marked(rows: list[list[tuple[int, bool]]]) -> Evidence:
    examples = [
        Example(f"t-{n}", ("one",) * len(row), 0, rationale=tuple(mark for _, mark in row))
        for n, row in enumerate(rows)
    ]
    return evidence_of(Given([[float(score) for score, _ in row] for row in rows], signed=True), examples)


@settings(max_examples=60)
@given(st.lists(marked_scores, min_size=1, max_size=4))
def test_metrics_of_marked_units_equal_their_definitions(rows: list[list[tuple[int, bool]]]) -> None:
    seen = marked(rows)
    mass, auc, rank = (metric(seen) for metric in (RelevanceMass(), RocAuc(), ReciprocalRank()))
    for n, row in enumerate(rows):
        scores, marks = (np.array(column) for column in zip(*row, strict=True))
        positive = np.maximum(scores, 0)
        if marks.any() and positive.sum():
            assert float(mass[n]) == pytest.approx(positive[marks].sum() / positive.sum())
        else:
            assert mass[n].isnan()
        if marks.any() and not marks.all():
            assert float(auc[n]) == pytest.approx(roc_auc_score(marks, scores))
        else:
            assert auc[n].isnan()
        if not marks.any():
            assert rank[n].isnan()
            continue
        best = scores[marks].max()  # ties are broken at random: the first mark is among those of its score
        lowest = int((scores > best).sum()) + 1
        last = lowest + int(((scores == best) & ~marks).sum())
        assert 1 / last - 1e-9 <= float(rank[n]) <= 1 / lowest + 1e-9


def test_units_without_known_marks_are_undefined() -> None:
    seen = evidence_of(Given([[1.0] * 6] * 2), texts(2))
    for metric in (RelevanceMass(), RocAuc(), ReciprocalRank()):
        assert metric(seen).isnan().all()


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=9), min_size=1, max_size=4
    )
)
def test_gini_is_half_the_relative_mean_difference(rows: list[list[float]]) -> None:
    examples = [Example(f"t-{n}", ("one",) * len(row), 0) for n, row in enumerate(rows)]
    found = Gini()(evidence_of(Given(rows), examples))
    for n, row in enumerate(rows):
        size = np.abs(row)
        if size.sum() == 0:
            assert found[n].isnan()
            continue
        between = np.abs(size[:, None] - size[None]).mean()
        assert float(found[n]) == pytest.approx(between / (2 * size.mean()), abs=1e-4)


def test_gini_is_zero_for_equal_scores_and_largest_for_one_unit() -> None:
    examples = texts(2, size=4)
    found = Gini()(evidence_of(Given([[0.25] * 4, [0, 0, -3.0, 0]]), examples))
    assert found.tolist() == pytest.approx([0, 0.75])


def agreement(one: list[float], other: list[float], k: int, *, signed: bool = True) -> list[float]:
    seen = evidence_of(
        Given([one], signed=signed),
        [Example("t-0", ("one",) * len(one), 0)],
        reference=Given([other], signed=signed),
    )
    return FeatureAgreement(FeatureAgreementOptions(k=k))(seen)[0].tolist()


def test_shared_top_units_with_rank_and_sign() -> None:
    one, other = [5.0, -4.0, 3.0, 2.0, 1.0], [5.0, 4.0, -2.0, 3.0, 1.0]
    # top 3 by size: units 0, 1, 2 and 0, 1, 3; both have 0 and 1 at the same rank, only 0 with the same sign
    assert agreement(one, other, 3) == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1 / 3])
    assert agreement(one, other, 1) == [1, 1, 1, 1]
    assert agreement(one, other, 9)[0] == 1  # no more than there are
    found = agreement(one, other, 3, signed=False)
    assert found[:2] == pytest.approx([2 / 3, 2 / 3])
    assert np.isnan(found[2:]).all()


@settings(max_examples=40)
@given(st.permutations(range(6)), st.permutations(range(6)), st.integers(1, 6), st.integers(0, 63))
def test_shared_top_units_equal_a_loop(one: list[int], other: list[int], k: int, signs: int) -> None:
    x = [float(value + 1) for value in one]
    y = [float(value + 1) * (-1 if signs >> n & 1 else 1) for n, value in enumerate(other)]
    tops = [sorted(range(6), key=lambda unit, of=of: -abs(of[unit]))[:k] for of in (x, y)]
    both = [unit for unit in tops[0] if unit in tops[1]]
    rank = [unit for unit in both if tops[0].index(unit) == tops[1].index(unit)]
    sign = [unit for unit in both if x[unit] * y[unit] > 0]
    expected = [len(both), len(rank), len(sign), len([unit for unit in rank if unit in sign])]
    assert agreement(x, y, k) == pytest.approx([count / k for count in expected])


def test_constant_scores_share_top_units_by_chance() -> None:
    examples = texts(400, size=6)
    seen = evidence_of(Given([[1.0] * 6] * 400), examples, reference=Given([[1.0] * 6] * 400))
    found = FeatureAgreement(FeatureAgreementOptions(k=2))(seen)
    assert float(found[:, 0].mean()) == pytest.approx(1 / 3, abs=0.06)
    assert float(found[:, 1].mean()) == pytest.approx(1 / 6, abs=0.05)
