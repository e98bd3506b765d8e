"""Correlations of a handful of values."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


def kendall(x: Array, y: Array) -> float:
    """Kendall's τ-b of two lists [n]; NaN where one is constant or a value is NaN."""
    first, second = np.triu_indices(len(x), k=1)
    dx, dy = np.sign(x[first] - x[second]), np.sign(y[first] - y[second])  # [n (n − 1) / 2]
    return _cosine(dx, dy)


def pearson(x: Array, y: Array) -> float:
    """Pearson's r of two lists [n]; NaN where one is constant or a value is NaN."""
    return _cosine(x - x.mean(), y - y.mean())


def spearman(x: Array, y: Array) -> float:
    """Pearson's r of the ranks, tied values sharing their mean rank."""
    if np.isnan(x).any() or np.isnan(y).any():
        return np.nan
    return pearson(_ranks(x), _ranks(y))


CORRELATIONS = {"kendall": kendall, "spearman": spearman, "pearson": pearson}


def _cosine(a: Array, b: Array) -> float:
    size = np.sqrt((a @ a) * (b @ b))
    return float(np.clip(a @ b / size, -1, 1)) if size > 0 else np.nan


def _ranks(x: Array) -> Array:
    below = (x[:, None] > x).sum(1)  # [n]
    return below + ((x[:, None] == x).sum(1) - 1) / 2
