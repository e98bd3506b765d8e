"""`mi-kendall`: k-means repeated, against one run at a time."""

import math

import numpy as np
import pytest
import scipy.stats
import torch
from kept_splits import Kept, conclude, generator, named
from sklearn.metrics import mutual_info_score
from torch.nn import functional as F

from attnx_information.kmeans import Space, kmeans
from attnx_information.options import MiKendallOptions


def two_close_ranks(n: int = 300) -> Kept:
    """Two ranks whose states say equally little of the output: chance in k-means decides their order."""
    g = generator(2)
    label = torch.randint(3, (n,), generator=g)
    hidden = torch.randn(n, 2, 6, generator=g) + F.one_hot(label, 3)[:, None].repeat(1, 1, 2)
    shares = torch.tensor([0.6, 0.4], dtype=torch.float64).expand(n, -1)
    return hidden, shares, F.one_hot(label, 3).double(), torch.rand(n, generator=g)


def test_values_are_means_over_repeats_and_spreads_their_standard_deviations() -> None:
    hidden, shares, logits, place = two_close_ranks()
    found = named(conclude((hidden, shares, logits, place), clusters=12, repeats=6, seed=3))
    order = place.argsort()
    taus, tops = [], []
    for repeat in range(6):
        labels = [
            kmeans(Space.of(hidden[order, rank]), 12, generator(3000 + repeat)).labels for rank in (0, 1)
        ]
        m = [mutual_info_score(logits[order].argmax(1), run) for run in labels]
        taus.append(scipy.stats.weightedtau(m, [0.6, 0.4], rank=None, additive=False).statistic)
        tops.append(m[0])
    assert set(np.sign(taus)) == {-1.0, 1.0}
    assert found["tau"] == pytest.approx(np.mean(taus))
    assert found["tau-spread"] == pytest.approx(np.std(taus, ddof=1))
    assert found["mi-top"] == pytest.approx(np.mean(tops))


def test_repeats_steady_what_one_run_decides_by_chance() -> None:
    kept = two_close_ranks()
    for measure in ("tau", "tau-corrected"):
        once, often = (
            [named(conclude(kept, clusters=12, repeats=repeats, seed=seed))[measure] for seed in range(12)]
            for repeats in (1, MiKendallOptions().repeats)
        )
        assert {1.0, -1.0} == set(once)
        assert np.std(often) < 0.5 * np.std(once)


def test_one_repeat_has_no_spread() -> None:
    found = named(conclude(two_close_ranks(), clusters=12, repeats=1))
    assert math.isnan(found["tau-spread"])
    assert not math.isnan(found["tau"])
