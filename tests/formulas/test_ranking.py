"""The order of units by an explanation."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from attnx.formulas import Randomness, average_ranks, ranked, settled
from attnx.plugin import Evidence, Example, Importance
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


# Values that only rounding parts.


def of_row(values: list[float], *, absolute: float = 0.0, dtype: torch.dtype = torch.float32) -> list[float]:
    row = torch.tensor([values], dtype=dtype)
    found: list[float] = settled(row, torch.ones_like(row, dtype=torch.bool), absolute=absolute)[0].tolist()
    return found


def test_values_within_rounding_are_equal_and_others_stay_as_they_are() -> None:
    step = float(torch.finfo(torch.float32).eps)
    found = of_row([0.5 + step, -0.25, 0.5, 0.5 - step, 0.5 + 1e-5, 0.0])
    assert len({found[0], found[2], found[3]}) == 1
    assert found[4] > found[0]
    assert (found[1], found[5]) == (-0.25, 0.0)


def test_small_values_are_compared_by_their_own_size() -> None:
    assert of_row([0.9, 1e-9, 2e-9, 0.0]) == pytest.approx([0.9, 1e-9, 2e-9, 0.0], abs=0, rel=1e-6)


def test_what_was_lost_before_counts() -> None:
    assert of_row([1e-4, 1e-4 + 5e-7, 3e-4], absolute=1e-6) == pytest.approx([1e-4, 1e-4, 3e-4], abs=1e-9)


def test_values_that_are_not_numbers_and_columns_off_the_mask_stay() -> None:
    row = torch.tensor([[torch.nan, 1.0, torch.inf, 1.0 + 2.0**-23, torch.inf, 0.0]])
    mask = torch.tensor([[True, True, True, True, True, False]])
    found = settled(row, mask)
    assert found[0, [1, 2, 3, 4, 5]].tolist() == [1.0, torch.inf, 1.0, torch.inf, 0.0]
    assert found[0, 0].isnan()


@pytest.mark.parametrize("columns", [0, 1])
def test_a_row_without_a_pair_stays(columns: int) -> None:
    row = torch.full((3, columns), 0.5)
    assert torch.equal(settled(row, torch.ones_like(row, dtype=torch.bool)), row)


def test_noise_of_rounding_changes_no_order() -> None:
    """Scores with many ties, each computed with another rounding error, keep their ties and their order."""
    generator = torch.Generator().manual_seed(0)
    exact = torch.randint(1, 40, (200, 30), generator=generator).float() / 40
    mask = torch.ones_like(exact, dtype=torch.bool)
    ranks = average_ranks(exact, mask)
    noisy = [exact * (1 + 2e-7 * torch.rand(exact.shape, generator=generator)) for _ in range(2)]
    assert not torch.equal(average_ranks(noisy[0], mask), ranks), "the noise does nothing"
    for values in noisy:
        assert torch.equal(average_ranks(settled(values, mask), mask), ranks)
