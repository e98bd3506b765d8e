"""`kendall` and `weighted-kendall`: against scipy, brute force over pairs and over permutations."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from attnx.formulas import Randomness, chunks, weighted_tau
from attnx.plugin import Batch, Evidence, Example, Importance
from attnx.run.measuring.attribution import trace_of
from attnx.testing import ToyModel, assert_conforms
from attnx_agreement.kendall import Kendall, agreement
from attnx_agreement.options import WeightedKendallOptions
from attnx_agreement.pairs import count_pairs
from attnx_agreement.significance import p_values
from attnx_agreement.weighted_kendall import WeightedKendall

Array = np.ndarray
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 31, 33, 34, 63, 64, 65, 100, 180, 257, 1000)
HYPERBOLIC = WeightedKendallOptions(weights="hyperbolic")


def evidence(x: Tensor, y: Tensor, mask: Tensor) -> Evidence:
    """Explanation x and reference y [B, L] over a mask, on a model that plays no part."""
    examples = [Example(f"e{row}", ("one",) * x.shape[1], 0) for row in range(len(x))]
    model = ToyModel()
    encoded = model.encode(examples)
    batch = Batch.collate(
        examples,
        inputs=encoded.inputs,
        mask=mask,
        unit_index=encoded.unit_index.masked_fill(~mask, -1),
        lengths=encoded.lengths,
    )
    trace = trace_of(model, batch)
    target = trace.predicted
    return Evidence(trace, Importance("x", x, target), Importance("y", y, target), model, Randomness(0))


def together(rows: list[tuple[Array, Array]], seed: int = 0) -> tuple[Array, Array, Array]:
    """Scores of several lengths in one padded batch, scattered among columns off the mask."""
    rng = np.random.default_rng(seed)
    width = max(len(x) for x, _ in rows) + 3
    x, y = rng.random((2, len(rows), width))  # rubbish off the mask
    mask = np.zeros((len(rows), width), dtype=bool)
    for row, (a, b) in enumerate(rows):
        columns = np.sort(rng.choice(width, size=len(a), replace=False))
        mask[row, columns], x[row, columns], y[row, columns] = True, a, b
    return x, y, mask


def samples(ties: bool, seed: int = 0) -> list[tuple[Array, Array]]:
    """Scores of many lengths and strengths of association."""
    rng = np.random.default_rng(seed)
    rows = []
    for n, strength in itertools.product(LENGTHS, (-3.0, 0.0, 0.5, 30.0)):
        x = rng.standard_normal(n)
        y = strength * x + rng.standard_normal(n)
        rows.append((x.round(0), (y * 2).round(0)) if ties else (x, y))
    return rows


@pytest.mark.parametrize("ties", [False, True])
def test_tau_and_p_equal_scipy_for_every_length(ties: bool) -> None:
    rows = samples(ties)
    x, y, mask = together(rows)
    tau, above, below, _ = agreement(x, y, mask)
    p = p_values(count_pairs(x, y, mask))
    defined = 0
    for row, (a, b) in enumerate(rows):
        peer = scipy.stats.kendalltau(a, b) if len(a) > 1 else None
        if peer is None or math.isnan(peer.statistic):
            assert np.isnan([tau[row], above[row], below[row]]).all()
            continue
        defined += 1
        assert tau[row] == peer.statistic
        assert p[row] == pytest.approx(peer.pvalue, rel=1e-12, abs=1e-300)
        assert above[row] == (peer.pvalue <= 0.05 and peer.statistic > 0)
        assert below[row] == (peer.pvalue <= 0.05 and peer.statistic < 0)
    assert defined > 60


def test_a_reversed_order_is_significant_only_on_the_other_side() -> None:
    order = np.arange(12.0)[None]
    mask = np.ones(order.shape, dtype=bool)
    assert [float(column[0]) for column in agreement(order, order, mask)[1:3]] == [1, 0]
    assert [float(column[0]) for column in agreement(order, -order, mask)[1:3]] == [0, 1]
    better = {measure.name: measure.direction for measure in Kendall.measures}
    assert (better["significant"], better["significant-negative"]) == ("up", "down")


def test_every_pair_of_a_reversed_order_is_counted_at_every_length() -> None:
    for n in range(2, 130):  # alone, as the number of columns decides how pairs are counted
        order = np.arange(float(n))[None]
        mask = np.ones(order.shape, dtype=bool)
        assert count_pairs(order, -order, mask).discordant == n * (n - 1) // 2
        assert count_pairs(order, order, mask).discordant == 0
        assert agreement(order, -order, mask)[0] == pytest.approx(-1)


@pytest.mark.parametrize("values", [3, 40, 10**6])
def test_pairs_are_those_of_a_loop_around_every_size_of_blocks_and_integers(values: int) -> None:
    rng = np.random.default_rng(8)
    for n in (1, 2, 23, 24, 25, 47, 48, 49, 95, 96, 97, 191, 193, 255, 256, 257):
        x, y = rng.integers(-values, values, (2, 3, n)).astype(float)
        mask = np.ones(x.shape, dtype=bool)
        mask[1, n // 2 :], mask[2] = False, False
        found = count_pairs(x, y, mask)
        for row, (a, b) in enumerate(zip(x, y, strict=True)):
            a, b = a[mask[row]], b[mask[row]]
            of_x, of_y = (np.sign(s[:, None] - s)[np.triu_indices(len(s), 1)] for s in (a, b))
            assert found.tied[:, row].tolist() == [(of_x == 0).sum(), (of_y == 0).sum()]
            assert found.discordant[row] == (of_x * of_y < 0).sum()
            best = np.triu(
                np.sign(np.sort(a)[:, None] - np.sort(a)) * np.sign(np.sort(b)[:, None] - np.sort(b))
            )
            assert found.balance[:, row].tolist() == [(of_x * of_y).sum(), best.sum()]
            sizes = [np.unique(s, return_counts=True)[1] for s in (a, b)]
            assert found.triples[:, row].tolist() == [(t * (t - 1) * (t - 2)).sum() for t in sizes]


def test_a_very_long_example_equals_scipy() -> None:
    rng = np.random.default_rng(5)
    x = rng.random((1, 40_000)).round(4)
    y = (0.01 * x + rng.random(x.shape)).round(4)
    mask = np.ones(x.shape, dtype=bool)
    peer = scipy.stats.kendalltau(x[0], y[0])
    assert agreement(x, y, mask)[0] == peer.statistic
    assert p_values(count_pairs(x, y, mask))[0] == pytest.approx(peer.pvalue, rel=1e-9)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40))
def test_heavily_tied_scores_equal_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T[:, None]
    mask = np.ones(x.shape, dtype=bool)
    tau, *_ = agreement(x, y, mask)
    peer = scipy.stats.kendalltau(x[0], y[0])
    np.testing.assert_equal(tau[0], peer.statistic)
    if not math.isnan(peer.statistic):
        assert p_values(count_pairs(x, y, mask))[0] == pytest.approx(peer.pvalue, rel=1e-12)


@pytest.mark.parametrize("n", [34, 170, 171, 300])
@pytest.mark.parametrize("swaps", [0, 1, 2])
@pytest.mark.parametrize("sign", [1, -1])
def test_nearly_perfect_order_of_many_units_has_the_p_of_scipy(n: int, swaps: int, sign: int) -> None:
    x = np.arange(float(n))
    y = x.copy()
    for swap in range(swaps):
        y[[4 * swap, 4 * swap + 1]] = y[[4 * swap + 1, 4 * swap]]
    mask = np.ones((1, n), dtype=bool)
    p = p_values(count_pairs(x[None], sign * y[None], mask))
    assert p[0] == pytest.approx(scipy.stats.kendalltau(x, sign * y).pvalue, rel=1e-12, abs=1e-300)


def test_the_exact_distribution_is_that_of_all_permutations() -> None:
    n = 6
    orders = np.array(list(itertools.permutations(range(n))), dtype=float)
    pairs = count_pairs(
        np.broadcast_to(np.arange(float(n)), orders.shape), orders, np.ones(orders.shape, bool)
    )
    for row in range(0, len(orders), 7):
        as_extreme = np.abs(pairs.balance[0]) >= abs(pairs.balance[0, row])
        assert p_values(pairs)[row] == pytest.approx(as_extreme.mean())


def brute_ceiling(x: Array, y: Array) -> float:
    return max(
        scipy.stats.kendalltau(x, np.array(order)).statistic for order in set(itertools.permutations(y))
    )


@pytest.mark.parametrize("seed", range(12))
def test_ceiling_is_the_best_tau_over_all_permutations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    x, y = rng.integers(0, int(rng.integers(2, n)), (2, n)).astype(float)
    x[:2], y[:2] = (0, 1), (0, 1)  # neither is constant
    found = agreement(x[None], rng.permutation(y)[None], np.ones((1, n), dtype=bool))[3][0]
    assert found == pytest.approx(brute_ceiling(x, y))


def test_ceiling_is_one_without_ties_and_never_below_tau() -> None:
    for ties in (False, True):
        tau, _, _, ceiling = agreement(*together(samples(ties)))
        defined = ~np.isnan(tau)
        assert (ceiling[defined] >= tau[defined]).all()
        assert np.array_equal(np.isnan(ceiling), ~defined)
        if not ties:
            np.testing.assert_allclose(ceiling[defined], 1)


def test_one_weight_in_forty_reaches_little_and_the_ceiling_says_so() -> None:
    reference = torch.arange(40.0)[None]
    sparse = torch.zeros(1, 40)
    sparse[0, -1] = 1  # perfectly aligned: all weight on the most important unit
    values = Kendall()(evidence(sparse, reference, torch.ones(1, 40, dtype=torch.bool)))
    assert values[0, 0] == pytest.approx(0.22, abs=0.005)
    assert values[0, 3] == values[0, 0]


def test_padding_would_change_tau_and_is_ignored() -> None:
    rng = np.random.default_rng(0)
    x, y = 1 + rng.random((2, 200, 20))
    padded = [np.pad(scores, ((0, 0), (0, 10))) for scores in (x, y)]
    mask = np.pad(np.ones(x.shape, dtype=bool), ((0, 0), (0, 10)))
    alone, *_ = agreement(x, y, np.ones(x.shape, dtype=bool))
    masked, *_ = agreement(*padded, mask)  # type: ignore[call-arg]
    careless = [scipy.stats.kendalltau(a, b).statistic for a, b in zip(*padded, strict=True)]
    assert np.mean(alone) == pytest.approx(0, abs=0.02)
    assert np.mean(careless) == pytest.approx(0.51, abs=0.02)
    assert np.array_equal(masked, alone)


def test_undefined_for_one_unit_a_constant_score_or_a_non_finite_number() -> None:
    order = torch.arange(3.0)
    x = torch.stack([order, order, torch.zeros(3), order, torch.tensor([0, torch.nan, 1]), order])
    y = torch.stack([order, order, order, torch.ones(3), order, torch.tensor([0, torch.inf, 1])])
    mask = torch.ones(6, 3, dtype=torch.bool)
    mask[1, 1:] = False
    values = Kendall()(evidence(x, y, mask))
    assert values[0].tolist() == [1, 0, 0, 1]  # 3 units: p is ⅓
    assert values[1:].isnan().all()


def test_what_is_off_the_mask_may_be_anything() -> None:
    x = np.array([[0.0, 1.0, 2.0, np.nan, np.inf]])
    assert agreement(x, x, np.array([[True, True, True, False, False]]))[0] == 1


def test_neighbouring_numbers_differ_and_the_two_zeros_are_equal() -> None:
    """The order rests on the last bits, which the fast sort gives up."""
    rng = np.random.default_rng(4)
    steps, y = rng.integers(-9, 9, (2, 5, 70))
    zeros = np.where(steps > 3, 1.0, np.copysign(0.0, steps))
    for x in (1 + steps * 2.0**-52, -1 + steps * 2.0**-53, steps * 5e-324, zeros):
        tau, *_ = agreement(x, y.astype(float), np.ones(x.shape, dtype=bool))
        assert tau.tolist() == [scipy.stats.kendalltau(a, b).statistic for a, b in zip(x, y, strict=True)]


def brute_weighted(x: Array, y: Array, w: Array) -> float:
    above = below = 0.0
    for i, j in itertools.combinations(range(len(x)), 2):
        above += w[i] * w[j] * np.sign(x[i] - x[j]) * np.sign(y[i] - y[j])
        below += w[i] * w[j]
    return above / below


@pytest.mark.parametrize("pairs", [2**20, 50])
def test_weighted_tau_equals_scipy_without_ties(pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "CELLS", pairs)
    rng = np.random.default_rng(1)
    x, y, w = rng.random((3, 8, 12))
    found = weighted_tau(*(torch.from_numpy(a) for a in (x, y, w)))
    for a, b, weights, tau in zip(x, y, w, found.tolist(), strict=True):
        peer = scipy.stats.weightedtau(a, b, rank=np.arange(12), weigher=weights.__getitem__, additive=False)
        assert tau == pytest.approx(peer.statistic)


@pytest.mark.parametrize("weights", ["explanation", "hyperbolic"])
@pytest.mark.parametrize("pairs", [2**20, 50])
def test_weighted_kendall_equals_the_sum_over_pairs_with_ties(
    weights: str, pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "CELLS", pairs)
    rng = np.random.default_rng(2)
    rows = [(rng.integers(-1, 4, n) / 3, rng.integers(0, 3, n) / 2) for n in (4, 6, 9, 15, 9)]
    x, y, mask = together(rows)
    metric = WeightedKendall(WeightedKendallOptions(weights=weights))  # type: ignore[arg-type]
    found = metric(evidence(*(torch.from_numpy(a) for a in (x, y, mask))))
    for row, (a, b) in enumerate(rows):
        w = np.abs(a) if weights == "explanation" else 1 / (1 + (a[None] > a[:, None]).sum(1))
        assert float(found[row]) == pytest.approx(brute_weighted(a, b, w))


def test_hyperbolic_weights_are_one_half_a_third_by_rank() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.random((2, 10))
    found = WeightedKendall(HYPERBOLIC)(
        evidence(torch.from_numpy(x[None]), torch.from_numpy(y[None]), torch.ones(1, 10, dtype=torch.bool))
    )
    rank = (-x).argsort().argsort()
    peer = scipy.stats.weightedtau(x, y, rank=rank, weigher=lambda r: 1 / (1 + r), additive=False)
    assert float(found) == pytest.approx(peer.statistic)


def test_weighted_kendall_is_undefined_without_two_weights() -> None:
    x = torch.tensor([[0.0, 1.0, 0.0], [0.0, 1.0, 2.0], [5.0, 1.0, 2.0]])
    mask = torch.tensor([[True] * 3, [True] * 3, [True, False, False]])
    values = WeightedKendall(WeightedKendallOptions())(evidence(x, x, mask))
    assert values.isnan().tolist() == [True, False, True]
    assert float(values[1]) == 1


def test_a_dominant_weight_leaves_the_weighted_tau_exact() -> None:
    x = torch.tensor([[1.0, 1e-20, 1e-25, 0.0]])
    y = torch.tensor([[4.0, 3.0, 2.0, 1.0]])
    values = WeightedKendall(WeightedKendallOptions())(evidence(x, y, torch.ones(1, 4, dtype=torch.bool)))
    assert float(values) == pytest.approx(1)


def test_laws() -> None:
    assert_conforms("metric", WeightedKendall(HYPERBOLIC))
