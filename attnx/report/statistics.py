"""Means and their 95 % intervals by a bootstrap over seeds and examples."""

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
    """[S, N, M] -> low [M], high [M]: seeds and examples are drawn with replacement.

    All seeds are measured on the same examples, so a resample has one draw of examples for all its
    seeds: an easy set of examples is easy for each of them, however many there are. All columns share
    the draws. A single value has no interval.
    """
    seeds, examples, columns = values.shape
    if seeds * examples == 1:
        return np.full(columns, np.nan), np.full(columns, np.nan)
    rng = np.random.default_rng(0)
    defined = ~np.isnan(values)
    filled = np.concatenate([np.where(defined, values, 0.0), defined], axis=2)  # [S, N, 2M]
    of_seeds = _resample(rng, resamples, seeds)  # [R, S]
    means = np.concatenate([_means(filled, some, rng) for some in _pieces(of_seeds, CELLS // examples + 1)])
    low, high = np.full(columns, np.nan), np.full(columns, np.nan)
    some = ~np.isnan(means).all(0)
    tail = (1 - LEVEL) / 2
    if some.any():
        low[some], high[some] = np.nanquantile(means[:, some], [tail, 1 - tail], axis=0)
    return low, high


def _means(filled: Array, of_seeds: Array, rng: np.random.Generator) -> Array:
    """[R, M] means of resampled examples, for R draws of seeds [R, S]; NaN where nothing is defined."""
    of_examples = _resample(rng, len(of_seeds), filled.shape[1])  # [R, N]
    sums, numbers = np.split(of_examples @ filled, 2, axis=2)  # [S, R, M] each
    present = numbers > 0
    by_seed = np.divide(sums, numbers, out=np.zeros_like(sums), where=present)
    weights = of_seeds.T[:, :, None] * present
    total = weights.sum(0)
    return np.divide((weights * by_seed).sum(0), total, out=np.full(total.shape, np.nan), where=total > 0)


def _resample(rng: np.random.Generator, times: int, items: int) -> Array:
    """[times, N] how often each of N items is drawn, with replacement."""
    drawn = rng.integers(items, size=(times, items)) + items * np.arange(times)[:, None]
    return np.bincount(drawn.ravel(), minlength=times * items).reshape(times, items).astype(float)


def _pieces(rows: Array, size: int) -> list[Array]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def pooled_sd(values: Array) -> Array:
    """[S, N, M] -> [M] standard deviation over all defined values of all seeds."""
    flat = values.reshape(-1, values.shape[2])
    counts = (~np.isnan(flat)).sum(0)
    sd = np.full(flat.shape[1], np.nan)
    enough = counts > 1
    sd[enough] = np.nanstd(flat[:, enough], axis=0, ddof=1)
    return sd
