"""Deletions by reuse of LSTM states equal reading the shorter text again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from random_examples import PROJECTIONS, texts
from text_building import SCORERS, build, read
from torch import Tensor

from attnx.plugin import TaskData
from attnx.run.evaluation_mode import evaluating
from attnx_encoders import lstm_cells, lstm_deletion

TOLERANCE = 1e-5


def assert_equals_reading_anew(model: Any, data: TaskData) -> None:
    """Every unit is taken out of its example, and what is left is encoded and run on its own."""
    trace = read(model, data.test)
    with evaluating(model):
        fast = model.without_each(trace)  # [B, L, C]
    assert fast.shape == (*trace.batch.mask.shape, 3)
    assert fast.isfinite().all()
    moved = 0.0
    for row, example in enumerate(data.test):
        for unit in range(len(example.units)):
            shorter = replace(example, units=example.units[:unit] + example.units[unit + 1 :])
            again = read(model, [shorter]).logits[0]
            column = int((trace.batch.unit_index[row] == unit).nonzero())
            torch.testing.assert_close(fast[row, column], again, atol=TOLERANCE, rtol=TOLERANCE)
            moved = max(moved, float((again - trace.logits[row]).abs().max()))
    assert moved > 100 * TOLERANCE, "deletions change the output by far more than the tolerance"


@pytest.mark.parametrize("boundaries", [True, False])
@pytest.mark.parametrize("query", [False, True])
@pytest.mark.parametrize("scorer", SCORERS)
def test_deletion_is_exact_for_every_scorer(scorer: str, query: bool, boundaries: bool) -> None:
    data = texts([7, 1, 12, 3, 12, 2, 20], query=query)
    model = build("bilstm", data, PROJECTIONS["softmax"], scorer=scorer, boundaries=boundaries)
    assert_equals_reading_anew(model, data)


@pytest.mark.parametrize("name", PROJECTIONS)
def test_deletion_is_exact_for_every_projection(name: str) -> None:
    data = texts([7, 1, 12, 3, 5])
    assert_equals_reading_anew(build("bilstm", data, PROJECTIONS[name]), data)


@pytest.mark.parametrize("seed", range(5))
def test_deletion_is_exact_at_random_lengths_and_groups(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(lstm_deletion, "ROWS", int(rng.integers(1, 120)))
    monkeypatch.setattr(lstm_deletion, "SIZES", int(rng.integers(1, 12)))
    data = texts(rng.integers(1, 30, size=8).tolist(), seed)
    assert_equals_reading_anew(build("bilstm", data, hidden=int(rng.integers(1, 9))), data)


@pytest.mark.parametrize("most", [1, 60, 300, 1500])
@pytest.mark.parametrize("query", [False, True])
def test_deletion_in_blocks_is_exact(most: int, query: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many deletions at a time as fit into memory, down to one."""
    data = texts([7, 1, 12, 3, 20], query=query)
    model = build("bilstm", data, PROJECTIONS["sparsemax"])
    monkeypatch.setattr(lstm_deletion, "MOST", most)
    monkeypatch.setattr(lstm_deletion, "SIZES", 3)
    assert_equals_reading_anew(model, data)


def test_a_long_text_has_products_of_few_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """oneDNN writes and keeps a program of up to a megabyte for every size."""
    sizes, product = set(), lstm_cells.product

    def counted(x: Tensor, weight: Tensor, *rest: Any) -> Tensor:
        sizes.add((*x.shape, *weight.shape))
        return product(x, weight, *rest)

    monkeypatch.setattr(lstm_cells, "product", counted)
    monkeypatch.setattr(lstm_deletion, "SIZES", 8)
    data = texts([80])
    assert_equals_reading_anew(build("bilstm", data), data)
    assert len(sizes) < 4 * 8


def test_deletion_is_exact_in_double_precision() -> None:
    data = texts([9, 4, 6])
    model = build("bilstm", data).double()
    with evaluating(model):
        batch = model.encode(data.test)
        fast = model.without_each(model.run(batch, model.embed(batch)))
        shorter = replace(data.test[0], units=data.test[0].units[:3] + data.test[0].units[4:])
        batch = model.encode([shorter])
        again = model.run(batch, model.embed(batch)).logits
    torch.testing.assert_close(fast[0, 4], again[0], atol=1e-12, rtol=1e-12)


def test_a_text_without_words_does_not_disturb_the_others() -> None:
    data = texts([6, 0, 4])
    for boundaries in (True, False):
        assert_equals_reading_anew(build("bilstm", data, boundaries=boundaries), data)
    only = texts([0, 0, 0])
    model = build("bilstm", data, boundaries=False)
    with evaluating(model):
        assert model.without_each(read(model, only.test)).shape == (3, 0, 3)
