"""Means and intervals against plain loops, known cases and a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnx.report import statistics
from attnx.report.statistics import bootstrap, mean_over_seeds, pooled_sd, seed_means

Array = np.ndarray[Any, np.dtype[np.float64]]


def sample(seeds: int, examples: int, measures: int, undefined: float = 0.0, seed: int = 0) -> Array:
    """[S, N, M] values with effects of seeds and examples, some of them undefined."""
    rng = np.random.default_rng(seed)
    effect = rng.normal(size=(seeds, 1, 1)) + rng.normal(size=(1, examples, 1))
    values = effect + rng.normal(size=(seeds, examples, measures))
    return np.where(rng.random(values.shape) < undefined, np.nan, values)


def bootstrap_by_loops(values: Array, resamples: int, rng: np.random.Generator) -> Array:
    """[resamples] means of one measure [S, N], one draw after the other."""
    means = []
    for _ in range(resamples):
        of_seeds = []
        examples = rng.integers(values.shape[1], size=values.shape[1])
        for s in rng.integers(len(values), size=len(values)):
            defined = [values[s, i] for i in examples if not np.isnan(values[s, i])]
            if defined:
                of_seeds.append(sum(defined) / len(defined))
        means.append(sum(of_seeds) / len(of_seeds) if of_seeds else np.nan)
    return np.array(means)


@pytest.mark.parametrize(("seeds", "undefined"), [(1, 0.0), (3, 0.0), (3, 0.4), (6, 0.2)])
def test_intervals_are_those_of_a_bootstrap_in_plain_loops(seeds: int, undefined: float) -> None:
    values = sample(seeds, 12, 1, undefined)
    low, high = bootstrap(values, resamples=20_000)
    expected = bootstrap_by_loops(values[:, :, 0], 3000, np.random.default_rng(1))
    tolerance = 0.2 * float(np.nanstd(expected))
    assert low[0] == pytest.approx(np.nanquantile(expected, 0.025), abs=tolerance)
    assert high[0] == pytest.approx(np.nanquantile(expected, 0.975), abs=tolerance)


def test_intervals_do_not_depend_on_the_other_measures() -> None:
    values = sample(3, 20, 4, undefined=0.2)
    low, high = bootstrap(values)
    for column in range(4):
        alone_low, alone_high = bootstrap(values[:, :, [column]])
        assert (low[column], high[column]) == pytest.approx((alone_low[0], alone_high[0]))


def test_intervals_are_the_same_every_time_and_in_any_piece_size(monkeypatch: pytest.MonkeyPatch) -> None:
    values = sample(2, 20, 3, undefined=0.2)
    first = bootstrap(values)
    assert np.array_equal(first, bootstrap(values))
    monkeypatch.setattr(statistics, "CELLS", 100)
    np.testing.assert_allclose(first, bootstrap(values))


def test_the_spread_between_seeds_widens_the_interval() -> None:
    same = np.tile(sample(1, 200, 1), (5, 1, 1))
    apart = same + np.arange(5.0)[:, None, None]
    narrow, wide = (float(high[0] - low[0]) for low, high in (bootstrap(same), bootstrap(apart)))
    assert wide > 3 * narrow


def test_seeds_that_repeat_each_other_add_nothing() -> None:
    once = sample(1, 300, 1)
    widths = [
        float(high[0] - low[0])
        for low, high in (bootstrap(np.tile(once, (copies, 1, 1)), resamples=4000) for copies in (1, 4, 16))
    ]
    assert widths[1:] == pytest.approx([widths[0]] * 2, rel=0.05)


def test_constant_values_have_an_interval_of_no_width() -> None:
    for shape in ((1, 10, 1), (4, 10, 1), (4, 1, 1)):
        low, high = bootstrap(np.full(shape, 0.25))
        assert (low[0], high[0]) == (0.25, 0.25)


def test_a_single_value_has_no_interval() -> None:
    low, high = bootstrap(np.array([[[3.0]]]))
    assert np.isnan([low[0], high[0]]).all()


def test_an_undefined_measure_has_undefined_statistics_and_harms_no_other() -> None:
    values = sample(3, 20, 3)
    values[:, :, 1] = np.nan
    low, high = bootstrap(values)
    for statistic in (low, high, mean_over_seeds(values), pooled_sd(values), *seed_means(values)):
        assert np.isnan(statistic).tolist() == [False, True, False]


def test_statistics_of_nothing_but_undefined_values_are_undefined() -> None:
    values = np.full((2, 5, 2), np.nan)
    low, high = bootstrap(values)
    for statistic in (low, high, mean_over_seeds(values), pooled_sd(values), *seed_means(values)):
        assert np.isnan(statistic).all()


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 4), st.integers(2, 8), st.data())
def test_a_mean_is_never_undefined_because_of_one_example(seeds: int, examples: int, data: Any) -> None:
    """However many are undefined, as long as one is left."""
    values = sample(seeds, examples, 1)
    undefined = data.draw(st.lists(st.integers(0, seeds * examples - 1), max_size=seeds * examples - 1))
    values.reshape(-1)[undefined] = np.nan
    low, high = bootstrap(values, resamples=50)
    assert np.isfinite(mean_over_seeds(values)).all()
    assert np.isfinite([low, high]).all()


def test_groups_are_measured_on_their_members_alone() -> None:
    """A group is a column in which the others are undefined; here it is absent from the second seed."""
    values = sample(2, 30, 1)
    member = np.zeros((2, 30), dtype=bool)
    member[0, :10] = True
    group = np.where(member[:, :, None], values, np.nan)
    assert mean_over_seeds(group)[0] == pytest.approx(values[0, :10].mean())
    assert pooled_sd(group)[0] == pytest.approx(values[0, :10].std(ddof=1))
    low, high = bootstrap(group, resamples=4000)
    spread = values[0, :10].std() / np.sqrt(10)
    assert (high - low)[0] == pytest.approx(2 * 1.96 * spread, rel=0.35)
    assert low[0] < values[0, :10].mean() < high[0]


def test_intervals_of_one_seed_cover_the_true_mean_as_often_as_they_say() -> None:
    """200 sets of 40 draws from a skewed distribution of mean 1."""
    values = np.random.default_rng(2).exponential(size=(1, 40, 200))
    low, high = bootstrap(values)
    covered = ((low <= 1) & (high >= 1)).mean()
    assert 0.90 <= covered <= 0.99


def test_intervals_of_several_seeds_cover_the_true_mean_as_often_as_they_say() -> None:
    """200 sets of 5 seeds on the same 60 examples, where examples differ more than seeds do."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(1, 60, 200)) + rng.normal(scale=0.1, size=(5, 1, 200))
    low, high = bootstrap(values + rng.normal(scale=0.3, size=(5, 60, 200)))
    covered = ((low <= 0) & (high >= 0)).mean()
    assert 0.90 <= covered <= 0.99


def test_means_and_deviations_are_numpys() -> None:
    values = sample(3, 20, 4, undefined=0.3)
    np.testing.assert_allclose(seed_means(values), np.nanmean(values, axis=1))
    np.testing.assert_allclose(mean_over_seeds(values), np.nanmean(values, axis=1).mean(0))
    np.testing.assert_allclose(pooled_sd(values), np.nanstd(values.reshape(-1, 4), axis=0, ddof=1))


def test_seeds_weigh_the_same_however_many_examples_they_define() -> None:
    values = np.array([[[0.0], [0.0], [0.0]], [[1.0], [np.nan], [np.nan]]])
    assert mean_over_seeds(values)[0] == 0.5


def test_a_single_value_has_no_deviation() -> None:
    assert np.isnan(pooled_sd(np.array([[[1.0], [np.nan]]])))[0]
