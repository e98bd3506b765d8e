"""Means and their intervals over seeds and examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Counts = np.ndarray[Any, np.dtype[np.int64]]

LEVEL = 0.95
LOWER = 2 / 3  # by how much an interval of 95 % may stay below Student's over all values
ALIKE = 1e-9  # of the range of values: those closer are the same value, but for rounding
LEAST = 1e-12  # p-value that is told apart from 0


@dataclass(frozen=True, slots=True)
class MeanIntervals:
    """Means of M columns with their intervals; NaN where there is none."""

    mean: Array  # [M]
    low: Array  # [M]
    high: Array  # [M]
    seeds: Counts  # [M] that have a value: with one, the interval covers examples, not training


@dataclass(frozen=True, slots=True)
class Statistics:
    """Mean, spread and interval of the values of each row of a report, for M rows."""

    mean: Array  # [M] over seeds, of the mean over examples
    sd: Array  # [M] over the examples of all seeds
    low: Array  # [M] 95 % interval of the mean
    high: Array  # [M]
    n: Counts  # [M] values that are defined
    undefined: Counts  # [M] values that are not
    seeds: Array  # [S, M] mean of each seed


def summarise(
    values: Array, asked: Counts | None = None, bounds: tuple[Array, Array] | None = None
) -> Statistics:
    """[S, N, M] values of S seeds on the same N examples -> the statistics of M rows.

    A row may be about some of the examples, the others NaN: `asked` [M] says how many of all S·N. No
    interval leaves the `bounds` ([M], [M]) of its measure, which the true mean cannot leave either.
    """
    found = mean_interval(values)
    low, high = (found.low, found.high) if bounds is None else np.clip((found.low, found.high), *bounds)
    n = (~np.isnan(values)).sum((0, 1))
    undefined = (values.shape[0] * values.shape[1] if asked is None else asked) - n
    return Statistics(found.mean, pooled_sd(values), low, high, n, undefined, seed_means(values))


def seed_means(values: Array) -> Array:
    """[S, N, M] -> [S, M] means over the defined examples of each seed; NaN where there are none."""
    defined = ~np.isnan(values)
    return _ratio(np.where(defined, values, 0.0).sum(1), defined.sum(1))


def mean_over_seeds(values: Array) -> Array:
    """[S, N, M] -> [M] the mean over seeds of the means over examples."""
    means = seed_means(values)
    defined = ~np.isnan(means)
    return _ratio(np.where(defined, means, 0.0).sum(0), defined.sum(0))


def pooled_sd(values: Array) -> Array:
    """[S, N, M] -> [M] standard deviation over all defined values of all seeds."""
    flat = values.reshape(-1, values.shape[2])
    counts = (~np.isnan(flat)).sum(0)
    sd = np.full(flat.shape[1], np.nan)
    enough = counts > 1
    some = flat[:, enough]
    sd[enough] = np.nanstd(some - np.nanmin(some, axis=0), axis=0, ddof=1)  # exactly 0 where all are the same
    return sd


def paired_interval(a: Array, b: Array, level: float = LEVEL) -> MeanIntervals:
    """[S, N, M] each -> the mean of a − b with its interval, over the pairs in which both are defined."""
    return mean_interval(a - b, level)


def mean_interval(values: Array, level: float = LEVEL) -> MeanIntervals:
    """[S, N, M] -> the mean over seeds and examples, with the interval that covers it as often as `level`.

    Seeds and examples are both drawn at random: value = mean + seed + example + rest. The variance of
    the mean has two parts,

        A = variance between the means of the seeds / S             known from S − 1 degrees of freedom
        B = covariance of two seeds on the same examples / N        known from N − 1

    unbiased as they stand, B cut off at 0. The interval is mean ± q·√(A + B), where q² lies between the
    squares of Student's quantiles t with S − 1 and u with N − 1 degrees of freedom:

        q² = (t²·Aᶜ + u²·Bᶜ) / (Aᶜ + Bᶜ)

    c = 1 never covers too seldom (Banerjee 1960), and for two seeds too often (.987 where .95 is asked);
    Satterthwaite's degrees of freedom cover two seeds too seldom (.87). c = 2 stays between .935 and
    .967 whatever the shares of A and B. Levels above 95 % correct for several tests, where an error
    weighs more: c falls to 1 as they rise. docs/statistics.md has the simulation.

    Values such as 0 and 1 come in steps, so the means of two seeds may be equal by chance (A = 0), though
    they differ by up to half a step either way as far as anyone can tell. What that adds to the variance of
    each seed's mean, (step / N)² / 12, is part of A. And no interval is narrower than a part of Student's
    over all S·N values as if each were drawn alone: a third of it at 95 %, since the whole would make two
    seeds of equal models cover .99, and nearly the whole at levels that correct for several tests.

    With one value for each seed this is Student's interval over seeds. Where one seed alone has values
    it is Student's interval over examples, and says nothing about other training runs. A single value has
    none.
    """
    mean, spread = mean_over_seeds(values), _spread(values)
    half = spread.half_width(level)
    return MeanIntervals(mean, mean - half, mean + half, spread.seeds)


def counted_interval(values: Array, level: float = LEVEL) -> MeanIntervals:
    """[S, N, M] values from 0 to 1 -> as `mean_interval`, with some width if all values agree.

    Two imagined examples, one with 0 and one with 1, widen the interval, which does not leave 0 and 1.
    """
    found = mean_interval(values)
    imagined = np.broadcast_to(np.array([0.0, 1.0])[None, :, None], (len(values), 2, values.shape[2]))
    wider = mean_interval(np.concatenate([values, imagined], axis=1), level)
    low = np.clip(wider.low, 0.0, found.mean)
    return MeanIntervals(found.mean, low, np.clip(wider.high, found.mean, 1.0), found.seeds)


def p_values(values: Array) -> Array:
    """[S, N, M] -> [M] the smallest 1 − level at which the interval of the mean leaves 0 out.

    With one seed, or one example, this is the p-value of Student's test. Below LEAST it is LEAST; NaN
    where there is no interval.
    """
    size, spread = abs(mean_over_seeds(values)), _spread(values)
    low, high = np.full(len(size), np.log10(LEAST)), np.zeros(len(size))  # of log₁₀ p
    for _ in range(50):
        middle = (low + high) / 2
        apart = size > spread.half_width(1 - 10**middle)
        low, high = np.where(apart, low, middle), np.where(apart, middle, high)
    return np.where(np.isnan(spread.half_width(LEVEL)), np.nan, 10**high)


def holm(p: Array) -> Array:
    """[M] p-values -> those corrected for all M together, step by step (Holm 1979); NaN counts as no test."""
    adjusted = np.full(len(p), np.nan)
    order = np.argsort(p)[: (~np.isnan(p)).sum()]  # NaN is sorted last
    steps = np.arange(len(order), 0, -1)  # as many as are not yet rejected
    adjusted[order] = np.minimum(np.maximum.accumulate(steps * p[order]), 1.0)
    return adjusted


@dataclass(frozen=True, slots=True)
class _Spread:
    """What intervals of any level are made of."""

    between: Array  # [M] A
    shared: Array  # [M] B
    alone: Array  # [M] variance of the mean as if each value were drawn alone; NaN for a single value
    seeds: Counts  # [M]
    examples: Counts  # [M]
    values: Counts  # [M]

    def half_width(self, level: float | Array) -> Array:
        nothing = np.zeros_like(self.alone)
        part = 1 - LOWER * _slack(level)
        floor = part * half_width(nothing, self.alone, self.seeds, self.values, level)
        return np.maximum(half_width(self.between, self.shared, self.seeds, self.examples, level), floor)


def _spread(values: Array) -> _Spread:
    between, shared, seeds, examples = _variances(values)
    n = (~np.isnan(values)).sum((0, 1))
    steps = _ratio(_steps(values) * seeds, n, empty=0.0)  # [M] of the mean of a seed
    between = between + np.where(seeds > 1, _ratio(steps**2 / 12, seeds, empty=0.0), 0.0)
    return _Spread(between, shared, _ratio(pooled_sd(values) ** 2, n), seeds, examples, n)


def _steps(values: Array) -> Array:
    """[M] the least distance between values that come in steps; 0 where most values are all different."""
    flat = np.sort(values.reshape(-1, values.shape[2]), axis=0)  # NaN is sorted last
    gaps = np.diff(flat, axis=0)
    spread = np.fmax.reduce(flat, axis=0) - np.fmin.reduce(flat, axis=0)  # [M]
    gaps = np.where(gaps > ALIKE * spread, gaps, np.inf)
    distinct = 1 + np.isfinite(gaps).sum(0)
    least = gaps.min(0, initial=np.inf)
    in_steps = np.isfinite(least) & (2 * distinct <= (~np.isnan(flat)).sum(0))
    return np.where(in_steps, least, 0.0)


def half_width(between: Array, shared: Array, seeds: Counts, examples: Counts, level: float | Array) -> Array:
    """[M] q·√(A + B) from A, B and the numbers of seeds and of examples, [M] each."""
    from scipy.special import stdtrit  # not needed to list, help or refuse

    variance = between + shared
    power = 1 + _slack(level) ** 2
    a, b = (_ratio(part, variance, empty=0.0) ** power for part in (between, shared))  # [M] each
    t, u = (stdtrit(np.maximum(number - 1, 1), (1 + level) / 2) for number in (seeds, examples))
    return np.sqrt(_ratio(t**2 * a + u**2 * b, a + b, empty=0.0) * variance)


def _slack(level: float | Array) -> float | Array:
    """1 up to the level of a single interval, falling to 0 as the level rises to correct for several."""
    return np.minimum(1.0, (1 - level) / (1 - LEVEL))


def _variances(values: Array) -> tuple[Array, Array, Counts, Counts]:
    """A [M], B [M], and the numbers of seeds [M] and of examples [M] that have a value.

    Two seeds with n and m values, k of them on common examples, share k / (n·m) of the variance that
    examples have; where all is defined that is 1 / N.
    """
    columns = values.transpose(2, 0, 1)  # [M, S, N]
    defined = ~np.isnan(columns)
    counts = defined.sum(2)  # [M, S]
    seeds = (counts > 0).sum(1)
    one = seeds < 2

    origin = np.fmin.reduce(columns, axis=(1, 2), keepdims=True)  # values that are all the same become 0
    means = _ratio(np.where(defined, columns - origin, 0.0).sum(2), counts, empty=0.0)  # [M, S]
    apart = np.where(counts > 0, means - _ratio(means.sum(1), seeds, empty=0.0)[:, None], 0.0)
    between = _ratio((apart**2).sum(1), seeds * (seeds - 1), empty=0.0)

    there = defined.astype(float)
    centred = np.where(defined, columns - origin - means[:, :, None], 0.0)
    common = there @ there.transpose(0, 2, 1)  # [M, S, S] examples of two seeds
    sums = centred @ there.transpose(0, 2, 1)  # of one seed over the examples of the other
    products = centred @ centred.transpose(0, 2, 1)
    products -= _ratio(sums * sums.transpose(0, 2, 1), common, empty=0.0)
    same = np.eye(len(values))
    pairs = np.where(one[:, None, None], same, 1 - same)  # a seed that is alone is paired with itself
    freedom = np.maximum(common - 1, 0)
    of_examples = _ratio((pairs * products).sum((1, 2)), (pairs * freedom).sum((1, 2)), empty=0.0)
    overlap = _ratio(common, counts[:, :, None] * counts[:, None, :], empty=0.0)
    shared = np.maximum(of_examples, 0.0) * _ratio(
        (pairs * overlap).sum((1, 2)), np.where(one, seeds, seeds * (seeds - 1)), empty=0.0
    )
    return between, shared, seeds, defined.any(1).sum(1)


def _ratio(above: Array, below: Array | Counts, empty: float = np.nan) -> Array:
    """Above / below, and `empty` where there is nothing below."""
    return np.divide(above, below, out=np.full(np.shape(above), empty), where=below > 0)
