"""Explanations that are right or wrong on purpose."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnx.formulas import Randomness
from attnx.plugin import Example, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.testing import ToyModel
from attnx_audit.options import PartlyOracleOptions
from attnx_audit.oracle import AntiOracle, Oracle
from attnx_audit.partly_oracle import PartlyOracle
from attnx_audit.position import First, Last

MODEL = ToyModel()
WORDS = ("one", "two", "three", "four", "five", "one", "two", "three")


def trace(*rationales: str | None, length: int = 8) -> Trace:
    """A text for each rationale, written as '00110'; None where nothing is known."""
    examples = [
        Example(
            id=f"text-{i}",
            units=WORDS[: len(marks) if marks else length],
            label=0,
            rationale=tuple(mark == "1" for mark in marks) if marks else None,
        )
        for i, marks in enumerate(rationales)
    ]
    with evaluating(MODEL):
        return trace_of(MODEL, MODEL.encode(examples))


def partly(share: float, found: Trace, seed: int = 0) -> torch.Tensor:
    method = PartlyOracle(PartlyOracleOptions(share=share, seed=seed))
    return method(MODEL, found, found.predicted, Randomness(0))


def test_oracle_and_anti_oracle_part_the_units() -> None:
    found = trace("01100", "1000", "000", None)
    right, wrong = (
        method(MODEL, found, found.predicted, Randomness(0)) for method in (Oracle(), AntiOracle())
    )
    pad = [0.0, 0, 0]
    assert right.tolist() == [[0, 1, 1, 0, 0, *pad], [1, 0, 0, 0, 0, *pad], [0.0] * 8, [0.0] * 8]
    assert wrong.tolist() == [
        [1, 0, 0, 1, 1, *pad],
        [0, 1, 1, 1, 0, *pad],
        [1.0, 1, 1, 0, 0, *pad],
        [0.0] * 8,
    ]


def test_positions_are_scored_from_either_end() -> None:
    found = trace("01100", "1000", None)
    first, last = (
        method(MODEL, found, found.predicted, Randomness(0)).numpy() for method in (First(), Last())
    )
    for row, length in enumerate((5, 4, 8)):
        rising = np.arange(1, length + 1) / length
        assert last[row] == pytest.approx([*rising, *np.zeros(8 - length)])
        assert first[row] == pytest.approx([*rising[::-1], *np.zeros(8 - length)])


def test_partly_oracle_ends_in_the_oracle_and_in_something_wrong() -> None:
    found = trace("01100", "1000", "10010010", None)
    oracle = Oracle()(MODEL, found, found.predicted, Randomness(0))
    assert torch.equal(partly(0.0, found), oracle)
    wrong = partly(1.0, found)
    assert float((wrong * oracle).sum()) == 0
    assert wrong.sum(1).tolist() == oracle.sum(1).tolist()


def test_partly_oracle_replaces_its_share_on_average() -> None:
    found = trace(*["01100110"] * 400, *["00100000"] * 400)
    oracle = Oracle()(MODEL, found, found.predicted, Randomness(0))
    for share in (0.25, 0.4, 0.5):
        values = partly(share, found)
        assert values.sum(1).tolist() == oracle.sum(1).tolist()
        replaced = (oracle * (1 - values)).sum(1).reshape(2, 400)  # [4 or 1 deciding units, texts]
        assert replaced.mean(1).tolist() == pytest.approx([4 * share, share], abs=0.1)
        least = int(4 * share)
        assert set(replaced[0].tolist()) <= {least, least + 1}


def test_partly_oracle_takes_every_other_unit_equally_often() -> None:
    found = trace(*["01100110"] * 2000)
    taken = partly(1.0, found).mean(0)
    assert taken.tolist() == pytest.approx([1, 0, 0, 1, 1, 0, 0, 1])  # as many others as deciding units
    found = trace(*["01000000"] * 2000)
    taken = partly(1.0, found).mean(0)
    assert taken.tolist() == pytest.approx([1 / 7, 0, *[1 / 7] * 6], abs=0.03)


def test_what_a_smaller_share_replaces_a_larger_one_replaces_too() -> None:
    found = trace(*["01100110"] * 50, *["1100"] * 50)
    oracle = Oracle()(MODEL, found, found.predicted, Randomness(0)).bool()
    before = oracle & ~oracle
    for share in (0.1, 0.3, 0.6, 0.8, 1.0):
        values = partly(share, found).bool()
        changed = values != oracle
        assert bool((before <= changed).all())
        before = changed


def test_too_few_others_are_all_taken() -> None:
    found = trace("11110", "1111")
    assert partly(1.0, found)[0].sum() == 4
    assert partly(1.0, found)[0, 4] == 1
    assert partly(1.0, found)[1].tolist() == [1.0, 1, 1, 1, 0]


def test_another_seed_replaces_others() -> None:
    found = trace(*["01100110"] * 20)
    assert torch.equal(partly(0.5, found), partly(0.5, found))
    assert not torch.equal(partly(0.5, found), partly(0.5, found, seed=1))
