"""Means and their 95 % intervals by a two-level bootstrap."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

RESAMPLES = 1000
LEVEL = 0.95
CELLS = 2_000_000  # of the matrix of counts that is held at once


def seed_means(values: Array) -> Array:
    """[S, N, M] -> [S, M] means over the defined examples of each seed; NaN where there are none."""
    defined = ~np.isnan(values)
    counts = defined.sum(1)
    sums = np.where(defined, values, 0.0).sum(1)
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)


def mean_over_seeds(values: Array) -> Array:
    """[S, N, M] -> [M] the mean over seeds of the means over examples."""
    means = seed_means(values)
    defined = ~np.isnan(means)
    counts = defined.sum(0)
    sums = np.where(defined, means, 0.0).sum(0)
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)


def bootstrap(values: Array, resamples: int = RESAMPLES) -> tuple[Array, Array]:
    """[S, N, M] -> low [M], high [M]: seeds are drawn with replacement, then examples within each.

    All columns share the draws, so one product with the counts of a resample serves them all. A
    single value has no interval.
    """
    seeds, examples, columns = values.shape
    if seeds * examples == 1:
        return np.full(columns, np.nan), np.full(columns, np.nan)
    rng = np.random.default_rng(0)
    defined = ~np.isnan(values)
    filled = np.concatenate([np.where(defined, values, 0.0), defined], axis=2)  # [S, N, 2M]
    totals = np.zeros((resamples, columns))
    usable = np.zeros((resamples, columns))
    for _ in range(seeds):  # the slots of a resampled set of seeds
        drawn_seed = rng.integers(seeds, size=resamples)  # [R]
        for seed in range(seeds):
            for rows in _pieces(np.flatnonzero(drawn_seed == seed), CELLS // examples + 1):
                counts = _resample(rng, len(rows), examples)  # [r, N]
                sums, numbers = np.split(counts @ filled[seed], 2, axis=1)  # [r, M] each
                present = numbers > 0
                totals[rows] += np.divide(sums, numbers, out=np.zeros_like(sums), where=present)
                usable[rows] += present
    means = np.divide(totals, usable, out=np.full_like(totals, np.nan), where=usable > 0)
    low, high = np.full(columns, np.nan), np.full(columns, np.nan)
    some = ~np.isnan(means).all(0)
    tail = (1 - LEVEL) / 2
    if some.any():
        low[some], high[some] = np.nanquantile(means[:, some], [tail, 1 - tail], axis=0)
    return low, high


def _resample(rng: np.random.Generator, times: int, examples: int) -> Array:
    """[times, N] how often each example is drawn, with replacement."""
    drawn = rng.integers(examples, size=(times, examples)) + examples * np.arange(times)[:, None]
    return np.bincount(drawn.ravel(), minlength=times * examples).reshape(times, examples).astype(float)


def _pieces(rows: np.ndarray[Any, Any], size: int) -> list[np.ndarray[Any, Any]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def pooled_sd(values: Array) -> Array:
    """[S, N, M] -> [M] standard deviation over all defined values of all seeds."""
    flat = values.reshape(-1, values.shape[2])
    counts = (~np.isnan(flat)).sum(0)
    sd = np.full(flat.shape[1], np.nan)
    enough = counts > 1
    sd[enough] = np.nanstd(flat[:, enough], axis=0, ddof=1)
    return sd
