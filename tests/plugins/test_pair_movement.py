"""`pair-movement` against its definition, word by word."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attnx.plugin import Example
from attnx_plausibility.pair_movement import movement


def pair(marks: tuple[int, ...], others: tuple[int, ...]) -> tuple[Example, Example]:
    made = [
        Example(name, tuple("abcdefgh"[: len(one)]), 0, rationale=tuple(map(bool, one)))
        for name, one in (("1", marks), ("2", others))
    ]
    return made[0], made[1]


def tensor(scores: list[float]) -> torch.Tensor:
    return torch.tensor(scores, dtype=torch.float64)


def value(marks: tuple[int, ...], e: list[float], others: tuple[int, ...], f: list[float]) -> list[float]:
    first, second = pair(marks, others)
    found: list[float] = movement(first, tensor(e), second, tensor(f)).tolist()
    return found


def test_only_the_words_that_differ_change() -> None:
    assert value((0, 1, 0), [0.5, 2.0, 0.1], (0, 1, 0), [0.5, -1.0, 0.1]) == pytest.approx([1.0, 3.0, 0.0])


def test_only_the_other_words_change() -> None:
    assert value((0, 1, 0), [0.0, 2.0, 0.0], (0, 1, 0), [1.0, 2.0, 3.0]) == pytest.approx([-1.0, 0.0, 2.0])


def test_scores_that_do_not_change_have_no_gain() -> None:
    assert value((0, 1), [1.0, 1.0], (0, 1), [1.0, 1.0]) == [0.0, 0.0, 0.0]


def test_a_word_that_only_one_text_has_counts_with_its_whole_score() -> None:
    assert value((0, 0), [1.0, 1.0], (0, 1, 0), [1.0, -4.0, 0.0]) == pytest.approx([3.5 / 4.5, 4.0, 0.5])


def test_random_scores_are_near_zero_on_average_and_definitions_agree() -> None:
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(2000):
        e, f = rng.normal(size=8), rng.normal(size=8)
        marks = (0, 0, 1, 0, 0, 0, 0, 0)
        gain, differing, shared = value(marks, e.tolist(), marks, f.tolist())
        assert differing == pytest.approx(abs(e[2] - f[2]))
        assert shared == pytest.approx(np.mean([abs(e[at] - f[at]) for at in range(8) if at != 2]))
        assert gain == pytest.approx((differing - shared) / (differing + shared))
        gains.append(gain)
    assert abs(np.mean(gains)) < 0.2
    assert not math.isnan(float(np.mean(gains)))
