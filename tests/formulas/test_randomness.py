"""Random numbers belong to an example and its unit, wherever they stand, and look independent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats  # type: ignore[import-untyped]
from torch import Tensor

from attnx.formulas.randomness import Randomness
from attnx.testing import ToyModel, toy_data
from attnx.types import Batch, Example

EXAMPLES = toy_data().test


def batch_of(count: int, units: int = 1) -> Batch:
    """Examples that differ by nothing but their ids."""
    return ToyModel().encode([Example(f"example-{i}", ("one",) * units, 0) for i in range(count)])


def by_id(batch: Batch, values: Tensor) -> dict[str, list[list[float]]]:
    """Of every example, the numbers [draws, units]."""
    return {
        example.id: values[row, :, : len(example.units)].tolist()
        for row, example in enumerate(batch.examples)
    }


def drawn(examples: tuple[Example, ...], draws: int = 3, seed: int = 0) -> dict[str, list[list[float]]]:
    batch = ToyModel().encode(examples)
    return by_id(batch, Randomness(seed).uniform(batch, draws))


def test_order_and_company_change_nothing() -> None:
    together = drawn(EXAMPLES)
    assert drawn(EXAMPLES[::-1]) == together
    assert {name: values for e in EXAMPLES for name, values in drawn((e,)).items()} == together


def test_padding_changes_nothing() -> None:
    batch = ToyModel().encode(EXAMPLES)
    padded = replace(
        batch,
        inputs=torch.nn.functional.pad(batch.inputs, (0, 4)),
        unit_index=torch.nn.functional.pad(batch.unit_index, (0, 4), value=-1),
    )
    randomness = Randomness(0)
    assert by_id(padded, randomness.uniform(padded, 2)) == by_id(batch, randomness.uniform(batch, 2))


def test_numbers_follow_their_unit_to_another_column() -> None:
    """As when special columns stand before the units, or the units in another order."""
    batch = ToyModel().encode(EXAMPLES)
    moved = replace(batch, inputs=batch.inputs.flip(1), unit_index=batch.unit_index.flip(1))
    values, others = Randomness(0).uniform(batch), Randomness(0).uniform(moved)
    assert torch.equal(values.flip(2), others)


def test_more_draws_begin_with_the_same() -> None:
    batch = ToyModel().encode(EXAMPLES)
    assert torch.equal(Randomness(0).uniform(batch, 2), Randomness(0).uniform(batch, 5)[:, :2])


def test_neither_words_nor_labels_matter() -> None:
    other = tuple(replace(e, units=("five",) * len(e.units), label=1, rationale=None) for e in EXAMPLES)
    assert drawn(other) == drawn(EXAMPLES)


def test_seed_id_draw_and_unit_all_matter() -> None:
    values = Randomness(0).uniform(batch_of(20, units=10), draws=5)
    others = Randomness(1).uniform(batch_of(20, units=10), draws=5)
    assert len(torch.cat([values.flatten(), others.flatten()]).unique()) == 2 * 20 * 10 * 5


def test_no_two_purposes_share_their_numbers() -> None:
    batch = batch_of(5, units=4)
    random = [
        Randomness(1).to("2x"),
        Randomness(12).to("x"),
        Randomness(1).to("2").to("x"),
        Randomness(12),
        Randomness(1, ("2x", "")),
    ]
    drawn = torch.stack([r.uniform(batch) for r in random])
    assert len(drawn.unique()) == drawn.numel()


def test_numbers_are_the_same_on_every_machine() -> None:
    """Recorded once: reports of two machines must be comparable."""
    assert drawn(EXAMPLES[:1], draws=1) == {
        "toy-0": [[0.2439864826947712, 0.5617764600377864, 0.7977511685074308]]
    }


@pytest.mark.parametrize(
    ("count", "units", "draws"), [(20_000, 1, 1), (1, 20_000, 1), (1, 1, 20_000), (20, 20, 50)]
)
def test_numbers_are_uniform(count: int, units: int, draws: int) -> None:
    """Over examples, over units, over draws and over all of them."""
    values = Randomness(3).uniform(batch_of(count, units), draws).flatten().numpy()
    assert values.min() >= 0
    assert values.max() < 1
    assert stats.kstest(values, "uniform").pvalue > 0.001


def test_seeds_ids_draws_and_units_are_uncorrelated() -> None:
    """In 20 rows of 5000 numbers, correlations have a standard deviation of 1/√5000 ≈ .014."""
    first, second = (Randomness(s).uniform(batch_of(20, units=500), draws=10).numpy() for s in (3, 4))
    limit = 5 / np.sqrt(5000)
    for name, rows in (
        ("examples", first.reshape(20, -1)),
        ("draws", first.transpose(1, 0, 2).reshape(10, -1)),
        ("units", first.transpose(2, 0, 1).reshape(20, -1)),
        ("seeds", np.stack([first, second]).reshape(40, -1)),
    ):
        off_diagonal = np.corrcoef(rows) - np.eye(len(rows))
        assert np.abs(off_diagonal).max() < limit, name
    neighbours = np.corrcoef(first[:, :, 1:].flatten(), first[:, :, :-1].flatten())[0, 1]
    assert abs(neighbours) < 5 / np.sqrt(first.size)
