"""Spearman, Pearson and top-k Kendall against scipy."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from attnx.formulas import Randomness
from attnx.plugin import Evidence, Example, Importance
from attnx.testing import ToyModel, assert_conforms
from attnx_agreement.kendall import Kendall
from attnx_agreement.kendall_topk import KendallTopK
from attnx_agreement.options import KendallTopKOptions, WeightedKendallOptions
from attnx_agreement.pearson import Pearson
from attnx_agreement.spearman import Spearman
from attnx_agreement.weighted_kendall import WeightedKendall


def evidence(pairs):
    """Evidence whose explanation and reference are the given score lists, padded to the longest."""
    model = ToyModel()
    batch = model.encode([Example(f"e{i}", ("one",) * len(x), 0) for i, (x, _) in enumerate(pairs)])
    with torch.no_grad():
        trace = model.run(batch, model.embed(batch))
    scores = []
    for side in (0, 1):
        values = torch.zeros(batch.mask.shape, dtype=torch.float64)
        for i, pair in enumerate(pairs):
            values[i, : len(pair[side])] = torch.tensor(pair[side], dtype=torch.float64)
        scores.append(Importance("given", values, trace.predicted))
    return Evidence(trace, scores[0], scores[1], model, Randomness(0))


values = st.integers(-4, 4).map(float)
pairs = st.integers(1, 9).flatmap(
    lambda n: st.tuples(st.lists(values, min_size=n, max_size=n), st.lists(values, min_size=n, max_size=n))
)


@settings(max_examples=80)
@given(st.lists(pairs, min_size=1, max_size=4))
def test_correlations_equal_scipy_and_are_undefined_where_a_score_is_constant(cases):
    seen = evidence(cases)
    rho, r = Spearman()(seen), Pearson()(seen)
    for i, (x, y) in enumerate(cases):
        if len(set(x)) < 2 or len(set(y)) < 2:
            assert rho[i].isnan()
            assert r[i].isnan()
        else:
            assert float(rho[i]) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
            assert float(r[i]) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)


@settings(max_examples=80)
@given(st.lists(pairs, min_size=1, max_size=4), st.integers(1, 10))
def test_topk_equals_scipy_on_scores_that_tie_below_their_k_largest(cases, k):
    tau = KendallTopK(KendallTopKOptions(k=k))(evidence(cases))
    for i, pair in enumerate(cases):
        x, y = (np.where(v >= np.sort(v)[::-1][min(k, len(v)) - 1], v, -9) for v in map(np.array, pair))
        if len(set(x)) < 2 or len(set(y)) < 2:
            assert tau[i].isnan()
        else:
            assert float(tau[i]) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)


@settings(max_examples=40)
@given(st.lists(pairs, min_size=1, max_size=4))
def test_topk_of_all_units_is_kendall(cases):
    seen = evidence(cases)
    whole = Kendall()(seen)[:, 0]
    assert torch.allclose(KendallTopK(KendallTopKOptions(k=9))(seen), whole, equal_nan=True)


def test_laws():
    assert_conforms("metric", KendallTopK(KendallTopKOptions(k=2)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("metric", [Spearman(), Pearson(), WeightedKendall(WeightedKendallOptions())])
def test_a_score_that_is_not_finite_is_undefined_and_harms_no_other(metric, side, bad):
    fine = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0])
    broken = [list(fine[0]), list(fine[1])]
    broken[side][1] = bad
    values = metric(evidence([fine, tuple(broken)]))
    assert not values[0].isnan()
    assert values[1].isnan()
