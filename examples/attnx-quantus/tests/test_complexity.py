"""The values are those of the formulas, and every text is handed over alone."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from attnx_quantus.complexity import QuantusComplexity, quantus_metric
from attnx_quantus.options import QuantusOptions

from attnx.testing import assert_conforms

NAMES = ("Sparseness", "Complexity", "EffectiveComplexity")


def gini(scores):
    a = np.sort(np.abs(scores))
    n = len(a)
    return float(((2 * np.arange(1, n + 1) - n - 1) * a).sum() / (n * a.sum()))


def entropy(scores):
    p = np.abs(scores) / np.abs(scores).sum()
    return float(-(p[p > 0] * np.log(p[p > 0])).sum())


class StandIn:
    """What Quantus does with one text, in NumPy; for tests without Quantus."""

    def __init__(self, formula):
        self.formula = formula

    def __call__(self, disable_warnings):
        return self

    def metric(self, model, x_batch, y_batch, a_batch, softmax):
        assert x_batch.shape == a_batch.shape == (1, 1, a_batch.size)
        return [self.formula(a_batch[0, 0])]


@pytest.fixture
def stand_in(monkeypatch):
    formulas = dict(zip(NAMES, (gini, entropy, lambda a: float((a > 1e-5).sum())), strict=True))
    made = {name: lambda disable_warnings, f=f: StandIn(f).metric for name, f in formulas.items()}
    monkeypatch.setitem(sys.modules, "quantus", SimpleNamespace(**made))


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("name", NAMES)
def test_it_keeps_the_laws_of_metrics(name):
    assert_conforms("metric", QuantusComplexity(QuantusOptions(metric=name)))


@pytest.mark.usefixtures("stand_in")
def test_scores_that_are_all_zero_have_no_value():
    assert np.isnan(quantus_metric("Sparseness")(np.zeros(3)))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "formula"), [("Sparseness", gini), ("Complexity", entropy)])
def test_quantus_gives_the_values_of_the_papers(name, formula):
    pytest.importorskip("quantus", reason="Quantus is not installed")
    compute = quantus_metric(name)
    for seed in range(5):
        scores = torch.rand(3 + seed, generator=torch.Generator().manual_seed(seed)).numpy()
        assert compute(scores) == pytest.approx(formula(scores), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_quantus_keeps_the_laws_of_metrics(name):
    pytest.importorskip("quantus", reason="Quantus is not installed")
    assert_conforms("metric", QuantusComplexity(QuantusOptions(metric=name)))
