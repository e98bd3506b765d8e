"""The two distances against scipy and their bounds."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from attnx.formulas import js_divergence, total_variation

masses = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=3, max_size=3).filter(
    lambda m: sum(m) > 1e-3
)


@settings(max_examples=100)
@given(masses, masses)
def test_divergences_equal_scipy_and_numpy(p, q):
    p, q = (np.array(m) / sum(m) for m in (p, q))
    a, b = torch.tensor(p), torch.tensor(q)
    assert float(js_divergence(a, b)) == pytest.approx(jensenshannon(p, q) ** 2, abs=1e-9)
    assert float(total_variation(a, b)) == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-12)
    assert float(js_divergence(a, b)) == pytest.approx(float(js_divergence(b, a)), abs=1e-12)


def test_disjoint_distributions_are_farthest():
    p, q = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    assert float(js_divergence(p, q)) == pytest.approx(math.log(2))
    assert float(total_variation(p, q)) == 1.0


def test_half_the_change_of_one_sigmoid_is_half_the_distance():
    p, q = torch.tensor([0.9, 0.1]), torch.tensor([0.6, 0.4])
    assert float(total_variation(p, q)) == pytest.approx(0.3)
