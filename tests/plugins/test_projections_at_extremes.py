"""Projections of scores and options so large that exponentials, quotients and powers overflow."""

from fractions import Fraction

import mpmath
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from attnx_projections.entmax import Entmax
from attnx_projections.gumbel_softmax import GumbelSoftmax
from attnx_projections.options import (
    EntmaxOptions,
    GumbelSoftmaxOptions,
    SoftmaxOptions,
    SparsegenOptions,
)
from attnx_projections.softmax import Softmax
from attnx_projections.sparsegen import Sparsegen
from attnx_projections.sparsemax import Sparsemax

# k · 2^e is exact in float32 and stays so when m · 2^e is added: a shift then loses nothing
numerators = st.lists(st.integers(-999, 999), min_size=2, max_size=7)
exponents = st.integers(-20, 89)  # up to 6e29
shifts = st.integers(-(2**20), 2**20)
temperatures = st.sampled_from([1e-12, 1e-6, 0.3, 1.0, 50.0])
lambdas = st.sampled_from([1 - 1e-9, 0.9, 0.0, -3.0, -1e6])
alphas = st.floats(1, 4, exclude_min=True)

projections = st.one_of(
    temperatures.map(lambda t: Softmax(SoftmaxOptions(temperature=t))),
    temperatures.map(lambda t: GumbelSoftmax(GumbelSoftmaxOptions(temperature=t)).eval()),
    temperatures.map(lambda t: GumbelSoftmax(GumbelSoftmaxOptions(temperature=t, draws=3)).eval()),
    temperatures.map(lambda t: GumbelSoftmax(GumbelSoftmaxOptions(temperature=t)).train()),
    lambdas.map(lambda lam: Sparsegen(SparsegenOptions(lam=lam))),
    st.just(Sparsemax()),
    alphas.map(lambda alpha: Entmax(EntmaxOptions(alpha=alpha))),
    alphas.map(lambda alpha: Entmax(EntmaxOptions(alpha=alpha, learned=True))),
)


def attend(projection, scores: Tensor) -> Tensor:
    torch.manual_seed(0)
    return projection(scores, torch.ones_like(scores).bool())


@settings(max_examples=300)
@given(projection=projections, units=numerators, exponent=exponents, shift=shifts)
@example(Softmax(SoftmaxOptions(temperature=1e-12)), [999, 998, -999], 89, 0)
@example(GumbelSoftmax(GumbelSoftmaxOptions(temperature=1e-12)).train(), [999, 998, -999], 89, 0)
@example(Sparsegen(SparsegenOptions(lam=1 - 1e-9)), [999, 998, -999], 89, 0)
@example(Entmax(EntmaxOptions(alpha=1.3)), [3, 2, -1], 0, 2**20)
@example(Entmax(EntmaxOptions(alpha=3.7, learned=True)), [999, 998, -999], 89, 2**20)
def test_weights_are_finite_and_a_shift_of_all_scores_moves_none(projection, units, exponent, shift):
    scores = torch.tensor(units, dtype=torch.float32) * 2.0**exponent
    shifted = (scores + shift * 2.0**exponent).requires_grad_()
    attention, moved = attend(projection, scores), attend(projection, shifted)
    assert torch.isfinite(attention).all()
    assert float(attention.detach().sum()) == pytest.approx(1, abs=1e-5)
    assert torch.equal(attention, moved)
    moved.square().sum().backward()
    assert shifted.grad.isfinite().all()
    if getattr(projection, "theta", None) is not None:
        assert projection.theta.grad.isfinite()
        projection.theta.grad = None


@settings(max_examples=60)
@given(units=numerators, exponent=exponents, temperature=temperatures)
@example([999, 998], 89, 1e-12)
def test_softmax_equals_its_definition_in_arbitrary_precision(units, exponent, temperature):
    scores = torch.tensor(units, dtype=torch.float32) * 2.0**exponent
    with mpmath.workdps(80):
        powers = [mpmath.exp(mpmath.mpf(z) / temperature) for z in scores.tolist()]
        expected = [float(power / sum(powers)) for power in powers]
    found = attend(Softmax(SoftmaxOptions(temperature=temperature)), scores)
    assert found.tolist() == pytest.approx(expected, abs=2e-5)  # the exponent is rounded to float32


@settings(max_examples=60)
@given(units=numerators, exponent=exponents, lam=lambdas)
@example([999, 998], 89, 1 - 1e-9)
def test_sparsegen_equals_its_definition_in_exact_fractions(units, exponent, lam):
    scores = torch.tensor(units, dtype=torch.float32) * 2.0**exponent
    z = [Fraction(value) / (1 - Fraction(lam)) for value in scores.tolist()]
    ordered = sorted(z, reverse=True)
    sizes = [k for k in range(1, len(z) + 1) if 1 + k * ordered[k - 1] > sum(ordered[:k])]
    threshold = (sum(ordered[: sizes[-1]]) - 1) / sizes[-1]
    expected = [float(max(value - threshold, 0)) for value in z]
    found = attend(Sparsegen(SparsegenOptions(lam=lam)), scores)
    assert found.tolist() == pytest.approx(expected, abs=1e-6)


@settings(max_examples=60)
@given(units=numerators, exponent=exponents, alpha=st.one_of(alphas, st.sampled_from([1.001, 1.3, 3.0])))
@example([3, 2, -1], 50, 1.3)
def test_entmax_meets_its_optimality_condition_in_arbitrary_precision(units, exponent, alpha):
    scores = torch.tensor(units, dtype=torch.float64) * 2.0**exponent
    p = attend(Entmax(EntmaxOptions(alpha=alpha)), scores).tolist()
    assert sum(p) == pytest.approx(1, abs=1e-9)
    with mpmath.workdps(80):
        power = mpmath.mpf(max(alpha, 1 + 1e-7)) - 1
        z = [power * mpmath.mpf(value) for value in scores.tolist()]
        low, high = max(z) - 1, max(z)
        for _ in range(250):
            middle = (low + high) / 2
            total = sum(max(value - middle, 0) ** (1 / power) for value in z)
            low, high = (middle, high) if total > 1 else (low, middle)
        expected = [float(max(value - low, 0) ** (1 / power)) for value in z]
    assert p == pytest.approx(expected, abs=1e-7)


def test_a_learned_alpha_at_the_edge_of_its_range_is_softmax():
    projection = Entmax(EntmaxOptions(alpha=1.5, learned=True))
    scores = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        projection.theta.fill_(-60.0)  # α − 1 is 1e-26
    attention = attend(projection, scores)
    torch.testing.assert_close(attention, scores.softmax(-1))
    attention[0].backward()
    assert scores.grad.isfinite().all()
    assert projection.theta.grad.isfinite()
