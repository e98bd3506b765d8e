"""The scores are Owen values: by brute force over the tree, and they add up to what they share."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from attnx_owen.options import OwenOptions
from attnx_owen.owen import Owen, Presence

from attnx.formulas import Randomness, mean_embedding
from attnx.testing import ToyModel, assert_conforms, toy_data


def brute_force(output):
    """Owen values of a tree that joins units from left to right, by recursion over its branches."""
    n = output.units
    values = np.zeros(n)

    def share(branch, context, weight):
        """Divide what a branch adds to a context, [units], among its units."""
        if len(branch) == 1:
            values[branch[0]] += weight * (of([*context, *branch]) - of(context))
            return
        left, right = branch[:-1], branch[-1:]
        for mine, other in ((left, right), (right, left)):
            share(mine, context, weight / 2)
            share(mine, [*context, *other], weight / 2)

    def of(units):
        present = np.zeros((1, n), dtype=bool)
        present[0, units] = True
        return output(present)[0]

    share(list(range(n)), [], 1.0)
    return values


class Partition:
    """What shap's explainer does, by brute force; for tests without shap."""

    def __init__(self, output, masker):
        assert masker.clustering.shape == (output.units - 1, 4)
        self.output = output

    def __call__(self, x, max_evals, silent):
        return SimpleNamespace(values=brute_force(self.output)[None])


@pytest.fixture
def stand_in(monkeypatch):
    explainers = SimpleNamespace(Partition=Partition)
    maskers = SimpleNamespace(Masker=object)
    monkeypatch.setitem(sys.modules, "shap", SimpleNamespace(explainers=explainers, maskers=maskers))
    monkeypatch.setitem(sys.modules, "shap.maskers", maskers)


def presence(row):
    model = ToyModel()
    batch = model.encode(toy_data().test)
    trace = model.run(batch, model.embed(batch))
    columns = batch.mask[row].nonzero()[:, 0]
    return model, trace, Presence(model, trace, row, columns, mean_embedding(trace)[row], 1)


@pytest.mark.usefixtures("stand_in")
def test_it_keeps_the_laws_of_importance_methods():
    assert_conforms("importance", Owen(OwenOptions()))


@pytest.mark.usefixtures("stand_in")
def test_scores_add_up_to_what_the_units_change():
    model, trace, output = presence(2)
    scores = Owen(OwenOptions())(model, trace, torch.ones(6, dtype=torch.long), Randomness(0))
    none, every = output(np.array([[False] * 5, [True] * 5]))
    assert float(scores[2].sum()) == pytest.approx(every - none, abs=1e-6)


def test_all_units_present_is_the_model_itself():
    _, trace, output = presence(0)
    assert output(np.ones((1, 3)))[0] == pytest.approx(float(trace.logits.softmax(-1)[0, 1]), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("row", range(6))
def test_shap_gives_the_values_of_brute_force(row):
    pytest.importorskip("shap", reason="shap is not installed")
    model, trace, output = presence(row)
    scores = Owen(OwenOptions(evaluations=500))(model, trace, torch.ones(6, dtype=torch.long), Randomness(0))
    np.testing.assert_allclose(scores[row, : output.units].numpy(), brute_force(output), atol=1e-6)


@pytest.mark.slow
def test_shap_keeps_the_laws_of_importance_methods():
    pytest.importorskip("shap", reason="shap is not installed")
    assert_conforms("importance", Owen(OwenOptions()))
