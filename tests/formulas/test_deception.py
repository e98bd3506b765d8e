"""Attention on the rationale, and the penalty on it."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnx.formulas import deception_penalty, rationale_mass

weights = st.lists(st.floats(0.01, 1), min_size=2, max_size=8)


@given(weights, st.data())
def test_penalty_is_minus_the_log_of_what_is_left(weights: list[float], data: st.DataObject) -> None:
    marks = data.draw(st.lists(st.booleans(), min_size=len(weights), max_size=len(weights)))
    marks[0] = False
    a = torch.tensor(weights, dtype=torch.float64)
    a = a / a.sum()
    inside = sum(weight for weight, mark in zip(a.tolist(), marks, strict=True) if mark)
    rationale = torch.tensor(marks, dtype=torch.float64)
    assert rationale_mass(a, rationale).item() == pytest.approx(inside, abs=1e-12)
    assert deception_penalty(a, rationale).item() == pytest.approx(-math.log(1 - inside), abs=1e-9)


def test_an_unknown_rationale_has_no_mass_and_costs_nothing() -> None:
    a = torch.tensor([[0.5, 0.5], [0.25, 0.75]], requires_grad=True)
    rationale = torch.tensor([[torch.nan, torch.nan], [1.0, 0.0]])
    assert rationale_mass(a, rationale).isnan().tolist() == [True, False]
    penalty = deception_penalty(a, rationale)
    assert penalty.tolist() == pytest.approx([0.0, -math.log(0.75)])
    penalty.sum().backward()
    assert a.grad is not None
    assert a.grad.tolist() == [[0.0, 0.0], [0.0, pytest.approx(-1 / 0.75)]]


def test_little_left_outside_does_not_cancel() -> None:
    rationale = torch.tensor([[1.0, 0.0]])
    a = torch.tensor([[1.0, 1e-12]])  # 1 − Σ would be 0 in single precision
    assert deception_penalty(a, rationale).item() == pytest.approx(12 * math.log(10), rel=1e-5)


def test_nothing_left_outside_is_a_finite_penalty_with_a_finite_gradient() -> None:
    a = torch.tensor([[0.5, 0.5, 0.0]], requires_grad=True)
    penalty = deception_penalty(a, torch.tensor([[1.0, 1.0, 0.0]]))
    penalty.sum().backward()
    assert math.isfinite(penalty.item())
    assert a.grad is not None
    assert bool(a.grad.isfinite().all())
