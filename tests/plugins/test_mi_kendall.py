"""`mi-kendall`: channels whose information is known, and which ranks, examples and clusters are used."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch
from kept_splits import Kept, channels, conclude, generator, named
from torch import Tensor
from torch.nn import functional as F

import attnx
from attnx.testing import assert_conforms
from attnx_information import mi_kendall
from attnx_information.kmeans import Clusters, Space
from attnx_information.mi_kendall import MiKendall
from attnx_information.options import MiKendallOptions


def capacity(flip: float, classes: int) -> float:
    """Information in a symmetric channel with equally likely inputs: log C − H(flip) − flip·log(C − 1)."""
    noise = float(scipy.stats.entropy([flip, 1 - flip])) + flip * math.log(classes - 1)
    return math.log(classes) - noise


# Information.


def test_channels_carry_what_theory_says() -> None:
    flips = [0.0, 0.1, 0.3, 0.5, 2 / 3]
    (_, plug_in), (_, corrected), _ = conclude(channels(flips), clusters=3).curves
    theory = torch.tensor([capacity(flip, 3) for flip in flips], dtype=torch.float64)
    torch.testing.assert_close(plug_in, theory, atol=0.01, rtol=0)
    torch.testing.assert_close(corrected, theory, atol=0.01, rtol=0)
    assert plug_in[0] == pytest.approx(math.log(3), abs=1e-3)


def test_correction_takes_away_the_bias_of_a_useless_rank() -> None:
    runs = [named(conclude(channels([2 / 3], n=120, seed=seed), clusters=3)) for seed in range(80)]
    bias = 2 * 2 / (2 * 120)  # (X − 1)(Y − 1)/2n, to first order
    assert np.mean([run["mi-top"] for run in runs]) == pytest.approx(bias, rel=0.2)
    assert np.mean([run["mi-top-corrected"] for run in runs]) == pytest.approx(0, abs=bias / 5)


def test_independent_states_seem_informative_until_corrected() -> None:
    plug_in, corrected = [], []
    for seed in range(8):
        g = generator(seed)
        label = torch.randint(2, (200,), generator=g)
        logits = torch.stack([-label, label], 1).double()
        shares = torch.tensor([0.7, 0.3], dtype=torch.float64).expand(200, -1)
        hidden = torch.randn(200, 2, 16, generator=g)
        found = conclude((hidden, shares, logits, torch.rand(200, generator=g)), clusters=100)
        plug_in += found.curves[0][1].tolist()
        corrected += found.curves[1][1].tolist()
    assert np.mean(plug_in) > 0.41 * math.log(2)  # k-means leaves no cluster empty, chance does
    assert np.mean(corrected) == pytest.approx(0.0, abs=0.02)


def test_binary_outputs_are_five_clusters_of_the_margin_and_others_classes() -> None:
    metric = MiKendall(MiKendallOptions())
    centres = torch.tensor([-9.0, -4.0, 0.0, 4.0, 9.0]).repeat(30)
    margin = centres + 0.1 * torch.randn(150, generator=generator())
    common = 50 * torch.randn(150, generator=generator(1))  # changes both logits alike
    outputs = metric._outputs(torch.stack([common - margin / 2, common + margin / 2], 1), 0)
    pairs = {(float(c), int(label)) for c, label in zip(centres, outputs, strict=True)}
    assert len(pairs) == 5
    logits = torch.randn(40, 3, generator=generator())
    assert torch.equal(metric._outputs(logits, 0), logits.argmax(1))


# Agreement of ranks.


def test_tau_is_1_where_information_falls_with_rank_and_minus_1_where_it_rises() -> None:
    flips = [0.0, 0.1, 0.2, 0.3, 0.4]
    falling = named(conclude(channels(flips, n=4000), clusters=3))
    rising = named(conclude(channels(flips[::-1], n=4000), clusters=3))
    assert (falling["tau"], falling["tau-corrected"]) == pytest.approx((1, 1))
    assert (rising["tau"], rising["tau-corrected"]) == pytest.approx((-1, -1))
    assert falling["ranks"] == 5


def test_a_swap_at_the_top_costs_more_than_one_at_the_bottom() -> None:
    top = named(conclude(channels([0.1, 0.0, 0.2, 0.3, 0.4], n=4000), clusters=3))["tau"]
    bottom = named(conclude(channels([0.0, 0.1, 0.2, 0.4, 0.3], n=4000), clusters=3))["tau"]
    w = [2.0**-r for r in range(5)]
    total = sum(a * b for a, b in combinations(w, 2))
    assert top == pytest.approx(1 - 2 * w[0] * w[1] / total)
    assert bottom == pytest.approx(1 - 2 * w[3] * w[4] / total)


def test_uniform_shares_order_nothing() -> None:
    hidden, _, logits, place = channels([0.0, 0.1, 0.2], n=1000)
    units = torch.randint(3, 9, (1000, 1), generator=generator())
    shares = (1 / units.double()).expand(-1, 3)
    assert named(conclude((hidden, shares, logits, place), clusters=3))["tau"] == 0


# Which ranks and examples.


def with_shares(shares: Tensor) -> dict[str, float]:
    n, ranks = shares.shape
    g = generator()
    label = torch.randint(3, (n,), generator=g)
    hidden = torch.randn(n, ranks, 4, generator=g)
    return named(conclude((hidden, shares.double(), F.one_hot(label, 3).double(), torch.rand(n)), clusters=2))


def test_ranks_end_where_a_fifth_of_the_examples_has_next_to_no_weight() -> None:
    shares = torch.full((100, 5), 0.1)
    shares[:20, 3] = 1e-5  # exactly 80 % are above
    shares[:21, 4] = 1e-5
    found = with_shares(shares)
    assert (found["ranks"], found["examples"]) == (4, 100)


def test_examples_without_all_ranks_are_left_out_of_every_rank_and_counted() -> None:
    shares = torch.full((100, 3), 0.1)
    shares[:7, 2] = torch.nan
    shares[7] = torch.nan  # an explanation that is 0 everywhere
    found = with_shares(shares)
    assert (found["ranks"], found["examples"]) == (3, 92)
    shares[:30, 2] = torch.nan  # the third rank goes, and with it the reason to leave them out
    found = with_shares(shares)
    assert (found["ranks"], found["examples"]) == (2, 99)


def test_short_examples_do_not_count_in_the_information() -> None:
    hidden, shares, logits, place = channels([0.0, 0.2, 0.4], n=3000)
    shares = shares.clone()
    shares[::20, 2] = torch.nan
    broken = hidden.clone()
    broken[::20] = torch.randn(150, 3, 3, generator=generator())
    long = torch.arange(3000) % 20 != 0
    together = conclude((broken, shares, logits, place), clusters=3)
    alone = conclude((hidden[long], shares[long], logits[long], place[long]), clusters=3)
    torch.testing.assert_close(together.values, alone.values)


def test_ranks_are_those_of_attention_whatever_the_explanation() -> None:
    kept = channels([0.0, 0.1, 0.2, 0.3], n=400)
    attention = torch.tensor([0.8, 0.15, 0.05, 0.0], dtype=torch.float64).expand(400, -1)
    narrow = torch.tensor([1.0, 0.0, 0.0, 0.0], dtype=torch.float64).expand(400, -1)
    wide = torch.full((400, 4), 0.25, dtype=torch.float64)
    for shares in (narrow, wide, kept[1]):
        found = named(conclude((kept[0], shares, *kept[2:]), attention, clusters=3))
        assert found["ranks"] == 3


# How many clusters.


def test_information_of_too_few_examples_is_undefined() -> None:
    enough, few = (named(conclude(channels([0.0, 0.2], n=n), clusters=50)) for n in (100, 99))
    assert enough["clusters"] == 50
    assert not math.isnan(enough["tau"])
    undefined = [
        "tau",
        "tau-corrected",
        "tau-spread",
        "tau-corrected-spread",
        "mi-top",
        "mi-top-corrected",
        "clusters",
    ]
    assert [name for name, value in few.items() if math.isnan(value)] == undefined
    assert (few["ranks"], few["examples"]) == (2, 99)


def clouds(n: int = 400, ranks: int = 2) -> Kept:
    """States in 60 clouds of at least two."""
    g = generator()
    places = 100 * torch.randn(60, 5, generator=g)
    hidden = places[torch.arange(n) % 60][:, None] + torch.randn(n, ranks, 5, generator=g)
    shares = torch.tensor([0.6, 0.4], dtype=torch.float64).expand(n, -1)
    return hidden, shares, torch.randn(n, 3, generator=g).double(), torch.rand(n, generator=g)


def test_the_papers_number_of_clusters_is_the_smallest_without_single_examples() -> None:
    assert named(conclude(clouds(), clusters="paper"))["clusters"] == 50


def test_an_example_always_in_its_own_cluster_leaves_no_valid_number_of_clusters() -> None:
    kept = clouds()
    kept[0][7, 1] = 1e6
    found = named(conclude(kept, clusters="paper"))
    assert math.isnan(found["clusters"])
    assert math.isnan(found["tau"])
    assert named(conclude(kept, clusters=50))["clusters"] == 50


def test_one_number_of_clusters_serves_all_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def fake(space: Space, clusters: int, generator: torch.Generator) -> Clusters:
        points = space.points
        rank = int(points[0, 0])
        asked.append((rank, clusters))
        alone = {0: clusters < 52, 1: clusters in (50, 53), 2: clusters == 52, 3: False}[rank]
        labels = torch.arange(len(points)) % 5
        return Clusters(labels, torch.tensor([1 if alone else 2, 2]), points[:2], 0.0)

    monkeypatch.setattr(mi_kendall, "kmeans", fake)
    hidden = torch.arange(4.0)[None, :, None].expand(150, -1, 2)
    metric = MiKendall(MiKendallOptions(clusters="paper", repeats=3))
    number, labels = metric._clusters(hidden, torch.arange(150), 4)
    assert number == 54
    assert labels.shape == (3, 4, 150)
    assert len(asked) < 4 * 5 + 2 * 4  # a number is given up at the first rank where it fails


# The whole.


def test_order_of_the_split_changes_nothing() -> None:
    kept = clouds(300)
    order = torch.randperm(300, generator=generator(5))
    shuffled_split: Any = tuple(tensor[order] for tensor in kept)
    for options in ({"clusters": 20}, {"clusters": "paper"}):
        assert torch.equal(conclude(kept, **options).values, conclude(shuffled_split, **options).values)


def test_seed_decides_clusters() -> None:
    hidden = torch.randn(400, 2, 8, generator=generator())
    kept = (hidden, *clouds()[1:])
    first, again, other = (conclude(kept, clusters=30, seed=seed).values for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_curves_have_a_point_for_every_rank() -> None:
    information, corrected, share = conclude(channels([0.0, 0.2, 0.4], n=500), clusters=3).curves
    assert [axis.points for axis, _ in (information, corrected, share)] == [(1, 2, 3)] * 3
    torch.testing.assert_close(share[1], torch.tensor([4, 2, 1], dtype=torch.float64) / 7)
    assert bool((information[1] > corrected[1]).all())


def test_laws() -> None:
    assert_conforms("metric", MiKendall(MiKendallOptions(clusters="paper")))


def test_report_has_the_verdict_and_its_curves() -> None:
    metric = MiKendall(MiKendallOptions(clusters=10))
    report = attnx.evaluate(
        "sdc-2d:train=200,test=300", metrics=[metric], training={"epochs": 2}, progress=False
    )
    tau = report.select("tau", metric="MiKendall")
    assert (tau.n, tau.undefined) == (1, 0)
    assert report.select("ranks", metric="MiKendall").mean == 9
    assert tau.baselines["uniform"] == 0
    curves = [curve for curve in report.curves if curve.metric == "MiKendall"]
    assert [(curve.axis, len(curve.y)) for curve in curves] == [("rank", 9)] * 3
