"""Replacing words by the LSTM's own path equals reading every changed text from its beginning."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from random_examples import PROJECTIONS, texts
from text_building import SCORERS, build, read

from attnx.plugin import TaskData
from attnx.run.evaluation_mode import evaluating
from attnx_encoders import lstm_replacement

LENGTHS = [7, 1, 12, 3, 12, 2, 20]


def assert_equals_reading_again(model: Any, data: TaskData, count: int = 60, one: bool = False) -> None:
    """Random subsets of random texts, some twice, in double precision, and with nothing and all replaced."""
    model.double()
    trace = read(model, data.test)
    batch, x = trace.batch, trace.embeddings
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(len(batch), (count,), generator=generator)
    rate = torch.rand(count, 1, generator=generator)
    absent = (torch.rand(count, x.shape[1], generator=generator) < rate) & batch.mask[rows]
    rows, absent = torch.cat([rows, rows[:9]]), torch.cat([absent, absent[:9]])
    absent[9], absent[10] = False, batch.mask[rows[10]]
    baseline = torch.randn(x.shape, generator=generator, dtype=x.dtype)
    if one:  # the same vector for all words of a text
        baseline = torch.where(batch.mask[..., None], baseline[:, :1], x)
    with evaluating(model):
        found = model.replaced(trace, rows, absent, baseline)
        repeated = batch.take(rows)
        n = repeated.mask.shape[1]
        changed = torch.where(absent[:, :n, None], baseline[rows, :n], x[rows, :n])
        expected = model.run(repeated, changed).logits
    assert (expected - trace.logits[rows]).abs().max() > 1e-3, "nothing to compare"
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=1e-8)


@pytest.mark.parametrize("boundaries", [True, False])
@pytest.mark.parametrize("query", [False, True])
@pytest.mark.parametrize("scorer", SCORERS)
def test_replacement_is_exact_for_every_scorer(scorer: str, query: bool, boundaries: bool) -> None:
    data = texts(LENGTHS, query=query)
    model = build("bilstm", data, PROJECTIONS["softmax"], scorer=scorer, boundaries=boundaries)
    assert_equals_reading_again(model, data)


@pytest.mark.parametrize("name", ["sparsemax", "entmax", "spherical", "hard", "uniform"])
def test_replacement_is_exact_for_every_projection(name: str) -> None:
    data = texts(LENGTHS)
    assert_equals_reading_again(build("bilstm", data, PROJECTIONS[name]), data)


def test_one_baseline_for_all_words_of_a_text_is_exact() -> None:
    data = texts(LENGTHS)
    assert_equals_reading_again(build("bilstm", data, PROJECTIONS["softmax"]), data, one=True)


@pytest.mark.parametrize(("rows", "columns"), [(1, 2**16), (7, 2**16), (512, 30), (512, 200)])
def test_how_many_texts_go_together_changes_nothing(
    rows: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lstm_replacement, "ROWS", rows)
    monkeypatch.setattr(lstm_replacement, "COLUMNS", columns)
    data = texts(LENGTHS)
    assert_equals_reading_again(build("bilstm", data, PROJECTIONS["softmax"]), data)


def test_texts_that_begin_alike_share_their_states() -> None:
    """Eight subsets of three words, of one text: 1, 2, 4 and 8 states, and of another text one more each."""
    bits = torch.arange(8)[:, None] >> torch.tensor([2, 1, 0]) & 1
    gone = torch.cat([bits, torch.zeros(1, 3, dtype=torch.long)]).bool()
    own = torch.tensor([0] * 8 + [1])
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0))
    steps = list(lstm_replacement._steps(own[order], gone[order]))
    assert [len(step.input) for step in steps] == [3, 5, 9]
    assert [step.parent is None for step in steps] == [False, False, False]
    assert steps[-1].state.unique().numel() == 9
