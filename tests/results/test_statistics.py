"""Means and intervals against closed forms, plain loops, scipy and simulation."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from coverage_of_intervals import World, coverage, families, family_error, new, percentile, worlds
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from attnx.results.statistics import (
    half_width,
    mean_interval,
    mean_over_seeds,
    paired_interval,
    pooled_sd,
    seed_means,
    summarise,
)

Array = np.ndarray[Any, np.dtype[np.float64]]


def sample(seeds: int, examples: int, measures: int, undefined: float = 0.0, seed: int = 0) -> Array:
    """[S, N, M] values with effects of seeds and examples, some of them undefined."""
    rng = np.random.default_rng(seed)
    effect = rng.normal(size=(seeds, 1, 1)) + rng.normal(size=(1, examples, 1))
    values = effect + rng.normal(size=(seeds, examples, measures))
    return np.where(rng.random(values.shape) < undefined, np.nan, values)


samples = st.builds(
    sample,
    seeds=st.integers(1, 5),
    examples=st.integers(2, 12),
    measures=st.just(2),
    undefined=st.sampled_from([0.0, 0.2, 0.6]),
    seed=st.integers(0, 10_000),
)


def bounds(values: Array, level: float = 0.95) -> Array:
    """[2, M] low and high."""
    found = mean_interval(values, level)
    return np.stack([found.low, found.high])


def width(values: Array) -> float:
    low, high = bounds(values)
    return float(high[0] - low[0])


# Closed forms


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_one_seed_has_students_interval_over_its_examples(level: float) -> None:
    values = sample(1, 30, 1)
    x = values[0, :, 0]
    expected = stats.t.interval(level, len(x) - 1, loc=x.mean(), scale=stats.sem(x))
    assert bounds(values, level)[:, 0] == pytest.approx(expected)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("seeds", [2, 3, 10])
def test_one_value_for_each_seed_has_students_interval_over_seeds(seeds: int, level: float) -> None:
    values = sample(seeds, 1, 1)
    x = values[:, 0, 0]
    expected = stats.t.interval(level, len(x) - 1, loc=x.mean(), scale=stats.sem(x))
    assert bounds(values, level)[:, 0] == pytest.approx(expected)


def half_by_loops(values: Array) -> float:
    """Half the width of one measure [S, N], from np.cov of every two seeds on their common examples."""
    defined = ~np.isnan(values)
    means = [row[there].mean() for row, there in zip(values, defined, strict=True) if there.any()]
    between = np.var(means, ddof=1) / len(means)
    products, freedom, overlaps = 0.0, 0, []
    for s, t in combinations([s for s in range(len(values)) if defined[s].any()], 2):
        both = defined[s] & defined[t]
        overlaps.append(both.sum() / defined[s].sum() / defined[t].sum())
        if both.sum() > 1:
            products += np.cov(values[s, both], values[t, both])[0, 1] * (both.sum() - 1)
            freedom += both.sum() - 1
    shared = max(products / freedom if freedom else 0.0, 0.0) * np.mean(overlaps)
    of_seeds = stats.t.ppf(0.975, len(means) - 1) ** 2
    of_examples = stats.t.ppf(0.975, defined.any(0).sum() - 1) ** 2
    squared = (of_seeds * between**2 + of_examples * shared**2) / (between**2 + shared**2)
    all_values = values[defined]
    floor = stats.t.ppf(0.975, len(all_values) - 1) * stats.sem(all_values) / 3
    return float(max(np.sqrt(squared * (between + shared)), floor))


@settings(max_examples=60)
@given(samples)
def test_several_seeds_have_the_interval_of_a_plain_loop(values: Array) -> None:
    found = mean_interval(values)
    for column in range(values.shape[2]):
        if found.seeds[column] > 1 and (~np.isnan(values[:, :, column])).any(0).sum() > 1:
            expected = half_by_loops(values[:, :, column])
            assert found.high[column] - found.mean[column] == pytest.approx(expected)
            assert found.mean[column] - found.low[column] == pytest.approx(expected)


@pytest.mark.parametrize("seeds", [2, 3, 7])
def test_the_variance_is_that_of_a_two_way_analysis_of_variance(seeds: int) -> None:
    """With as many seeds as examples both quantiles are one, and what is left is the variance."""
    values = sample(seeds, seeds, 1)[:, :, 0]
    rows, columns, mean = values.mean(1), values.mean(0), values.mean()
    of_seeds = seeds * np.var(rows, ddof=1)
    of_examples = seeds * np.var(columns, ddof=1)
    rest = ((values - rows[:, None] - columns + mean) ** 2).sum() / (seeds - 1) ** 2
    variance = (of_seeds + max(of_examples - rest, 0)) / seeds**2
    expected = 2 * stats.t.ppf(0.975, seeds - 1) * variance**0.5
    assert width(values[:, :, None]) == pytest.approx(expected)


def test_the_parts_of_the_variance_are_unbiased_where_values_are_missing_at_random() -> None:
    """The mean over many sets of width², at one quantile for both parts, is the variance of the mean."""
    rng = np.random.default_rng(5)
    shape = (4, 4, 40_000)
    values = rng.normal(size=(4, 1, 40_000)) + 3 * rng.normal(size=(1, 4, 40_000)) + rng.normal(size=shape)
    values[0, 1:3], values[2, 0] = np.nan, np.nan
    found = mean_interval(values)
    variance = ((found.high - found.mean) / stats.t.ppf(0.975, 3)) ** 2
    assert variance.mean() == pytest.approx(found.mean.var(), rel=0.03)


# Laws


@settings(max_examples=60)
@given(samples, st.floats(-50, 50), st.floats(0.01, 100))
def test_an_interval_moves_and_stretches_with_its_values(values: Array, shift: float, scale: float) -> None:
    low, high = bounds(values)
    np.testing.assert_allclose(
        bounds(values * scale + shift), [low * scale + shift, high * scale + shift], atol=1e-8
    )
    np.testing.assert_allclose(bounds(-values), [-high, -low], atol=1e-8)


@settings(max_examples=60)
@given(samples, st.randoms(use_true_random=False))
def test_the_order_of_seeds_and_examples_does_not_matter(values: Array, random: Any) -> None:
    seeds, examples = list(range(values.shape[0])), list(range(values.shape[1]))
    random.shuffle(seeds)
    random.shuffle(examples)
    np.testing.assert_allclose(bounds(values[seeds][:, examples]), bounds(values), atol=1e-10)


@settings(max_examples=60)
@given(samples, st.integers(1, 4))
def test_undefined_examples_and_seeds_are_as_if_they_were_not_there(values: Array, more: int) -> None:
    of_examples = np.full((values.shape[0], more, values.shape[2]), np.nan)
    np.testing.assert_allclose(bounds(np.concatenate([values, of_examples], 1)), bounds(values), atol=1e-10)
    of_seeds = np.full((more, *values.shape[1:]), np.nan)
    np.testing.assert_allclose(bounds(np.concatenate([values, of_seeds])), bounds(values), atol=1e-10)


@settings(max_examples=60)
@given(samples, st.floats(0.5, 0.98))
def test_a_higher_level_has_a_wider_interval_around_the_same_mean(values: Array, level: float) -> None:
    narrow, wide = mean_interval(values, level), mean_interval(values, level + 0.015)
    some = ~np.isnan(narrow.low)
    assert (wide.low[some] < narrow.low[some]).all()
    assert (narrow.low[some] < narrow.mean[some]).all()
    assert (narrow.mean[some] < narrow.high[some]).all()
    assert (narrow.high[some] < wide.high[some]).all()


def test_intervals_do_not_depend_on_the_other_measures() -> None:
    values = sample(3, 20, 4, undefined=0.2)
    alone = np.concatenate([bounds(values[:, :, [column]]) for column in range(4)], axis=1)
    np.testing.assert_allclose(bounds(values), alone)


def test_the_spread_between_seeds_widens_the_interval() -> None:
    same = np.tile(sample(1, 200, 1), (5, 1, 1))
    assert width(same + np.arange(5.0)[:, None, None]) > 3 * width(same)


def test_seeds_that_repeat_each_other_add_nothing() -> None:
    once = sample(1, 300, 1)
    for copies in (2, 4, 16):
        assert width(np.tile(once, (copies, 1, 1))) == pytest.approx(width(once))


def test_constant_values_have_an_interval_of_no_width() -> None:
    for shape in ((1, 10, 1), (4, 10, 1), (4, 1, 1)):
        for constant in (0.25, 0.1, 1e9 / 3):
            low, high = bounds(np.full(shape, constant))
            assert low[0] == high[0] == pytest.approx(constant)


def test_two_seeds_whose_values_in_steps_agree_by_chance_may_differ_by_half_a_step() -> None:
    """Each mean is known to a step of 1/4, so as if it were spread evenly over that much."""
    values = np.array([[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]])[:, :, None]
    assert width(values) == pytest.approx(2 * stats.t.ppf(0.975, 1) * (0.25**2 / 12 / 2) ** 0.5)
    assert width(5 * values) == pytest.approx(5 * width(values))
    assert width(values + 1e-13 * sample(2, 4, 1)) == pytest.approx(width(values), rel=1e-6)


def test_two_seeds_that_agree_by_chance_leave_some_width() -> None:
    values = np.array([[0.1, 0.8, 0.7, 0.2], [0.9, 0.3, 0.0, 0.6]])[:, :, None]
    assert values.mean(1)[0] == pytest.approx(values.mean(1)[1])
    student = 2 * stats.t.ppf(0.975, 7) * stats.sem(values.ravel())
    assert width(values) == pytest.approx(student / 3)
    low, high = bounds(values, level=1 - 1e-9)  # corrected for very many tests: nearly the whole of it
    whole = 2 * stats.t.ppf(1 - 5e-10, 7) * stats.sem(values.ravel())
    assert high[0] - low[0] == pytest.approx(whole, rel=1e-6)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 9, 1), (3, 1, 1), (3, 9, 1)])
def test_a_single_defined_value_has_no_interval(shape: tuple[int, int, int]) -> None:
    values = np.full(shape, np.nan)
    values[-1, -1] = 3.0
    found = mean_interval(values)
    assert found.mean[0] == 3
    assert np.isnan([found.low[0], found.high[0]]).all()
    assert np.isnan(summarise(values).low[0])


@settings(max_examples=50)
@given(st.integers(1, 4), st.integers(2, 8), st.data())
def test_two_defined_values_anywhere_are_enough(seeds: int, examples: int, data: Any) -> None:
    values = sample(seeds, examples, 1)
    cells = seeds * examples
    undefined = data.draw(st.lists(st.integers(0, cells - 1), max_size=cells - 2, unique=True))
    values.reshape(-1)[undefined] = np.nan
    found = mean_interval(values)
    assert found.low[0] < found.mean[0] < found.high[0]


def test_an_interval_says_over_how_many_seeds_it_is() -> None:
    values = sample(3, 20, 4)
    values[1:, :, 1] = np.nan
    values[0, :, 2] = np.nan
    values[:, :, 3] = np.nan
    assert mean_interval(values).seeds.tolist() == [3, 1, 2, 0]


def test_an_undefined_measure_has_undefined_statistics_and_harms_no_other() -> None:
    values = sample(3, 20, 3)
    values[:, :, 1] = np.nan
    for statistic in (*bounds(values), mean_over_seeds(values), pooled_sd(values), *seed_means(values)):
        assert np.isnan(statistic).tolist() == [False, True, False]


def test_groups_are_measured_on_their_members_alone() -> None:
    """A group is a column in which the others are undefined; here it is absent from the second seed."""
    values = sample(2, 30, 1)
    member = np.zeros((2, 30), dtype=bool)
    member[0, :10] = True
    group = np.where(member[:, :, None], values, np.nan)
    assert mean_over_seeds(group)[0] == pytest.approx(values[0, :10].mean())
    assert pooled_sd(group)[0] == pytest.approx(values[0, :10].std(ddof=1))
    np.testing.assert_allclose(bounds(group), bounds(values[:1, :10]))


# Differences


@settings(max_examples=60)
@given(samples, st.floats(0.5, 0.999))
def test_a_measure_does_not_differ_from_itself(values: Array, level: float) -> None:
    found = paired_interval(values, values, level)
    some = (~np.isnan(values)).sum((0, 1)) > 1
    for statistic in (found.mean, found.low, found.high):
        assert (statistic[some] == 0).all()


def test_a_difference_is_over_the_pairs_in_which_both_are_defined() -> None:
    a, b = sample(3, 20, 2, undefined=0.2, seed=1), sample(3, 20, 2, undefined=0.2, seed=2)
    found, level = paired_interval(a, b, 0.99), 0.99
    both = ~np.isnan(a) & ~np.isnan(b)
    expected = mean_interval(np.where(both, np.nan_to_num(a) - np.nan_to_num(b), np.nan), level)
    np.testing.assert_allclose(
        [found.mean, found.low, found.high], [expected.mean, expected.low, expected.high]
    )
    other = paired_interval(b, a, 0.99)
    np.testing.assert_allclose([other.mean, other.low, other.high], [-found.mean, -found.high, -found.low])


def test_one_seed_s_difference_is_that_of_a_paired_t_test() -> None:
    a, b = sample(1, 25, 1, seed=1), sample(1, 25, 1, seed=2)
    peer = stats.ttest_rel(a[0, :, 0], b[0, :, 0]).confidence_interval(0.98)
    found = paired_interval(a, b, 0.98)
    assert (found.low[0], found.high[0]) == pytest.approx((peer.low, peer.high))


# What a row says


def test_means_and_deviations_are_numpys() -> None:
    values = sample(3, 20, 4, undefined=0.3)
    found = summarise(values)
    np.testing.assert_allclose(found.seeds, np.nanmean(values, axis=1))
    np.testing.assert_allclose(found.mean, np.nanmean(values, axis=1).mean(0))
    np.testing.assert_allclose(found.sd, np.nanstd(values.reshape(-1, 4), axis=0, ddof=1))
    np.testing.assert_array_equal(found.undefined, np.isnan(values).sum((0, 1)))
    np.testing.assert_array_equal(found.n, 60 - np.isnan(values).sum((0, 1)))
    np.testing.assert_array_equal([found.low, found.high], bounds(values))


def test_only_what_was_asked_for_can_be_undefined() -> None:
    values = sample(2, 10, 1)
    values[:, 4:] = np.nan  # not of the group
    values[0, 0] = np.nan
    assert summarise(values, asked=np.array([8])).undefined.tolist() == [1]


def test_an_interval_does_not_leave_the_bounds_of_its_measure() -> None:
    values = np.array([[[0.9, 0.9]], [[1.0, 1.0]]])
    free = summarise(values)
    assert free.high[0] > 1
    found = summarise(values, bounds=(np.array([0.0, -np.inf]), np.array([1.0, np.inf])))
    assert (found.high[0], found.high[1]) == (1.0, free.high[1])
    assert (found.low[0], found.low[1]) == (max(free.low[0], 0.0), free.low[1])


def test_seeds_weigh_the_same_however_many_examples_they_define() -> None:
    values = np.array([[[0.0], [0.0], [0.0]], [[1.0], [np.nan], [np.nan]]])
    assert mean_over_seeds(values)[0] == 0.5


def test_a_single_value_has_no_deviation() -> None:
    assert np.isnan(pooled_sd(np.array([[[1.0], [np.nan]]])))[0]


# Coverage


@cache
def draws_of_chi2(freedom: int) -> Array:
    return stats.chi2.ppf((np.arange(2000) + 0.5) / 2000, freedom)


def exact_coverage(seeds: int, ratio: float, level: float) -> float:
    """Of normal values on endless examples, by quadrature over A; A is `ratio` times B on average."""
    between = ratio * draws_of_chi2(seeds - 1) / (seeds - 1)
    many = np.full(between.shape, 10**9)
    half = half_width(between, np.ones_like(between), np.full(between.shape, seeds), many, level)
    return float((2 * stats.norm.cdf(half / np.sqrt(1 + ratio)) - 1).mean())


@pytest.mark.parametrize("seeds", [2, 3, 4, 5, 7, 10, 30])
def test_coverage_is_93_to_97_percent_whatever_seeds_and_examples_contribute(seeds: int) -> None:
    for ratio in np.geomspace(1e-3, 1e4, 36):
        assert 0.93 <= exact_coverage(seeds, ratio, 0.95) <= 0.97


@pytest.mark.parametrize("level", [0.98, 0.99, 0.999])
def test_corrected_levels_err_hardly_more_than_asked_with_two_seeds_and_never_with_more(level: float) -> None:
    for seeds, worst in ((2, 1.07), (3, 1.01), (5, 1.01), (10, 1.01)):
        for ratio in np.geomspace(1e-3, 1e4, 36):
            assert 1 - exact_coverage(seeds, ratio, level) <= worst * (1 - level)


QUICK = [
    World("normal", 2, 60, 0.5, 1),
    World("normal", 3, 60, 0, 1),
    World("skewed", 3, 100, 0.5, 0),
    World("binary", 5, 60, 0.5, 1),
    World("binary", 2, 50, 0, 0),
    World("normal", 3, 1, 0.5, 0),
    World("normal", 10, 60, 0, 1),
]


@pytest.mark.parametrize("world", QUICK, ids=str)
def test_intervals_cover_the_true_mean_as_often_as_they_say(world: World) -> None:
    """2 000 sets: the rate is known to ± .01."""
    assert 0.92 <= coverage(world, new, 2000)[0] <= 0.985


def test_the_simulation_refuses_a_percentile_bootstrap() -> None:
    rates = [coverage(world, percentile, 500)[0] for world in QUICK]
    assert min(rates) < 0.8


def test_one_seed_covers_the_examples_and_not_the_training() -> None:
    assert 0.93 <= coverage(World("normal", 1, 60, 0, 1), new, 2000)[0] <= 0.97
    assert coverage(World("normal", 1, 60, 0.5, 1), new, 2000)[0] < 0.7


@pytest.mark.slow
@pytest.mark.parametrize("world", worlds(), ids=str)
def test_intervals_cover_in_every_world(world: World) -> None:
    in_steps = world.kind == "binary" and world.examples < 100 and world.seeds < 5
    assert 0.93 <= coverage(world, new, 4000)[0] <= (0.985 if in_steps else 0.97)


# Several rows


@pytest.mark.parametrize(
    "world",
    [World("rare", 2, 30, 0, 0), World("rare", 2, 100, 0.5, 1), World("binary", 3, 20, 0, 0)],
    ids=str,
)
def test_rows_without_a_difference_are_seldom_found_to_have_one(world: World) -> None:
    """1 000 families: a rate of .06 would be seen as at most .08."""
    assert max(family_error(world, 1000)) <= 0.08


def test_the_simulation_of_families_refuses_means_of_steps_that_are_taken_as_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("attnx.results.statistics._steps", lambda values: np.zeros(values.shape[2]))
    monkeypatch.setattr("attnx.results.statistics._slack", lambda _: 1.0)
    assert max(family_error(World("rare", 2, 30, 0, 0), 500)) > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("world", families(), ids=str)
def test_families_of_rows_err_in_at_most_6_of_100_cases(world: World) -> None:
    assert max(family_error(world, 4000)) <= 0.06
