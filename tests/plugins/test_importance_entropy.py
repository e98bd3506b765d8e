"""`importance-entropy`: closed forms, scipy, and where it is undefined."""

import math

import numpy as np
import pytest
import scipy.stats
import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import Evidence, Example, Importance
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.testing import ToyModel
from attnx_agreement.importance_entropy import ImportanceEntropy


def entropy(*rows: list[float]) -> Tensor:
    """The metric of these importances, each row an example of its own length."""
    model = ToyModel()
    examples = [Example(f"e{i}", ("one",) * len(row), 0) for i, row in enumerate(rows)]
    with evaluating(model):
        trace = trace_of(model, model.encode(examples))
    values = torch.zeros_like(trace.attention)
    values[trace.batch.mask] = torch.tensor([float(value) for row in rows for value in row])
    importance = Importance("given", values, trace.predicted)
    return ImportanceEntropy()(Evidence(trace, importance, None, model, Randomness(0)))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([1, 1, 1, 1], 1),
        ([0, 7, 0], 0),
        ([1, 1, 0, 0], 0.5),
        ([2, -2, 0, 0], 0.5),
        ([1, 2, 1], 1.5 * math.log(2) / math.log(3)),
        ([1e-30, 1e-30], 1),
    ],
)
def test_closed_forms(row: list[float], expected: float) -> None:
    assert float(entropy(row)) == pytest.approx(expected, abs=1e-12)


def test_scipy_agrees_whatever_the_padding() -> None:
    rng = np.random.default_rng(0)
    rows = [rng.standard_normal(n).astype(np.float32) for n in (2, 5, 40, 3)]
    expected = [scipy.stats.entropy(np.abs(row)) / math.log(len(row)) for row in rows]
    np.testing.assert_allclose(entropy(*(row.tolist() for row in rows)), expected, rtol=1e-6)


def test_undefined_for_one_unit_and_without_any_importance() -> None:
    assert entropy([3], [0, 0], [1, 1]).isnan().tolist() == [True, True, False]
