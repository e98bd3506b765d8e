"""The formulas of `mi-kendall`: scikit-learn, scipy, and brute force."""

import math
from itertools import combinations

import numpy as np
import pytest
import scipy.stats
import torch
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

from attnx_information.mi_kendall import _tau
from attnx_information.mutual_information import mutual_information, shuffled


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_information_is_scikit_learns() -> None:
    g = generator()
    x, y = torch.randint(9, (4, 50), generator=g), torch.randint(3, (1, 50), generator=g)
    ours = mutual_information(x, y)
    theirs = [mutual_info_score(row.numpy(), y[0].numpy()) for row in x]
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    assert float(mutual_information(x[:1], torch.zeros_like(y))) == 0
    assert float(mutual_information(y, y)) == pytest.approx(scipy.stats.entropy(y[0].bincount()))


def test_shuffles_give_the_information_expected_by_chance() -> None:
    g = generator()
    x, y = torch.randint(30, (1, 200), generator=g), torch.randint(4, (200,), generator=g)
    table = contingency_matrix(x[0].numpy(), y.numpy(), sparse=True)
    ours = mutual_information(x, shuffled(y, 400, g))
    assert float(ours.mean()) == pytest.approx(expected_mutual_information(table, 200), abs=0.005)


def test_independent_labels_seem_to_share_41_percent_of_ln_2() -> None:
    g = generator()
    x, y = torch.randint(100, (300, 200), generator=g), torch.randint(2, (300, 200), generator=g)
    assert float(mutual_information(x, y).mean()) / math.log(2) == pytest.approx(0.41, abs=0.01)


def test_weighted_tau_is_brute_force() -> None:
    rng = np.random.default_rng(0)
    for size in (2, 3, 10, 40):
        x, w = rng.integers(0, 8, size).astype(float), rng.integers(1, 9, size) / 9
        pairs = list(combinations(range(size), 2))
        above = sum(w[i] * w[j] * np.sign(x[i] - x[j]) * np.sign(w[i] - w[j]) for i, j in pairs)
        expected = above / sum(w[i] * w[j] for i, j in pairs)
        assert _tau(torch.from_numpy(x), torch.from_numpy(w)) == pytest.approx(expected)


def test_weighted_tau_is_scipys_where_nothing_ties() -> None:
    rng = np.random.default_rng(1)
    for size in (2, 3, 10, 40):
        x, w = rng.permutation(size).astype(float), rng.permutation(np.arange(1, size + 1)) / size
        theirs = scipy.stats.weightedtau(
            x, w, rank=np.arange(size), weigher=lambda rank, w=w: w[rank], additive=False
        )
        assert _tau(torch.from_numpy(x), torch.from_numpy(w)) == pytest.approx(theirs.statistic)


@pytest.mark.parametrize("size", [0, 1])
def test_fewer_than_two_ranks_have_no_tau(size: int) -> None:
    assert math.isnan(_tau(torch.ones(size), torch.ones(size)))


def test_unknown_information_has_no_tau() -> None:
    assert math.isnan(_tau(torch.tensor([torch.nan, 1.0, 2.0]), torch.tensor([3.0, 2.0, 1.0])))
