"""The order of units by an explanation."""

from dataclasses import replace

import pytest
import torch
from attnx.plugin import Evidence, Example, Importance
from torch import Tensor

from attnx.formulas import Randomness, ranked
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.run.measuring.metric_calls import attention_evidence
from attnx.testing import ToyModel


def evidence(values: list[list[float]], seed: int = 0, padding: int = 0) -> Evidence:
    """Rows of values for as many units each, behind them columns of padding."""
    model = ToyModel()
    longest = max(len(row) for row in values) + padding
    examples = [Example(f"e{i}", ("one",) * len(row), 0) for i, row in enumerate(values)]
    examples.append(Example("longest", ("one",) * longest, 0))
    with evaluating(model):
        trace = trace_of(model, model.encode(examples))
    scores = torch.zeros(len(examples), longest)
    for i, row in enumerate(values):
        scores[i, : len(row)] = torch.tensor(row)
    found = attention_evidence(model, trace, seed)
    return replace(found, explanation=Importance("given", scores, trace.predicted), random=Randomness(seed))


def order(values: list[float], **settings: int) -> list[int]:
    found: Tensor = ranked(evidence([values], **settings))[0]
    return found[: len(values)].tolist()


def test_units_are_ordered_by_value_whatever_their_sign() -> None:
    assert order([-1.0, 3.0, 0.5, -2.0]) == [1, 2, 0, 3]


@pytest.mark.parametrize("seed", range(20))
def test_a_tie_never_displaces_a_higher_value(seed: int) -> None:
    found = order([0.0, 3.0, 0.0, 2.0, 0.0], seed=seed)
    assert found[:2] == [1, 3]
    assert sorted(found) == [0, 1, 2, 3, 4]


def test_equal_values_come_in_an_order_of_chance() -> None:
    orders = [tuple(order([0.0] * 6, seed=seed)) for seed in range(20)]
    assert len(set(orders)) > 10
    firsts = [order([0.0] * 3, seed=seed)[0] for seed in range(300)]
    assert all(70 < firsts.count(unit) < 130 for unit in range(3))


def test_masked_columns_come_last_and_padding_changes_no_order() -> None:
    values = [-1.0, -1.0, -5.0, -1.0]
    assert order(values, padding=7) == order(values)
    assert ranked(evidence([values], padding=7))[0, 4:].sort().values.tolist() == list(range(4, 11))
