"""Correlations of a handful of values; NaN where one list is constant or a value is not finite."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnx import formulas

Array = np.ndarray[Any, np.dtype[np.float64]]


def kendall(x: Array, y: Array) -> float:
    """Kendall's τ-b of two lists [n]: the correlation of sgn(x_i − x_j) and sgn(y_i − y_j)."""
    apart = [(values[:, None] - values).flatten() for values in _tensors(x, y)]  # [n²] each
    return _pearson(*(d.sign() + 0 * d for d in apart))  # the sign of NaN is 0


def pearson(x: Array, y: Array) -> float:
    """Pearson's r of two lists [n]."""
    return _pearson(*_tensors(x, y))


def spearman(x: Array, y: Array) -> float:
    """Pearson's r of the ranks, tied values sharing their mean rank."""
    ranks = (formulas.average_ranks(values[None], _everywhere(values))[0] for values in _tensors(x, y))
    return _pearson(*ranks)


CORRELATIONS = {"kendall": kendall, "spearman": spearman, "pearson": pearson}


def _pearson(x: Tensor, y: Tensor) -> float:
    return float(formulas.pearson(x[None], y[None], _everywhere(x)))


def _tensors(*lists: Array) -> list[Tensor]:
    """[n] each; values that only rounding parts are equal."""
    tensors = [torch.as_tensor(values, dtype=torch.float64) for values in lists]
    return [formulas.settled(values[None], _everywhere(values))[0] for values in tensors]


def _everywhere(values: Tensor) -> Tensor:
    return torch.ones(1, len(values), dtype=torch.bool)
