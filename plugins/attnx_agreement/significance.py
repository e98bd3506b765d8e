"""p-values of Kendall's τ: exact for few units without ties, otherwise a normal approximation."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import torch

from .pairs import Floats, Pairs

EXACT_UNITS = 33  # largest number of units for the exact distribution, as in scipy


def p_values(pairs: Pairs) -> Floats:
    """Return [B] two-sided p-values for no association; arbitrary where τ is undefined.

    The choice is that of `scipy.stats.kendalltau`: exact without ties for up to 33 units, or if at most
    one pair differs in direction from the others; otherwise normal with the variance corrected for ties.
    """
    p = _normal(pairs)
    untied = (pairs.tied.sum(0) == 0) & (pairs.units >= 2)
    if not untied.any():
        return p
    rarer = np.minimum(pairs.discordant, pairs.total - pairs.discordant)
    exact = untied & ((pairs.units <= EXACT_UNITS) | (rarer <= 1))
    for units in set(pairs.units[exact].tolist()):
        rows = exact & (pairs.units == units)
        p[rows] = _exact(units)[rarer[rows]]
    return p


def _normal(pairs: Pairs) -> Floats:
    """Return [B] p-values of concordant minus discordant pairs, by a normal approximation."""
    n = np.maximum(pairs.units, 3).astype(np.float64)  # fewer are exact or undefined
    m = n * (n - 1)
    tied = pairs.tied.astype(np.float64)
    # Σ t(t − 1)(2t + 5) = 2 Σ t(t − 1)(t − 2) + 18 Σ t(t − 1)/2
    lost = (2 * pairs.triples + 18 * tied).sum(0)
    variance = (
        (m * (2 * n + 5) - lost) / 18 + 2 * tied.prod(0) / m + pairs.triples.prod(0) / (9 * m * (n - 2))
    )
    z = np.abs(pairs.balance[0]) / np.sqrt(np.where(variance > 0, variance, np.nan))
    return torch.from_numpy(z / math.sqrt(2)).erfc().numpy()


@cache
def _exact(units: int) -> Floats:
    """Return p for every number of discordant pairs up to half of all; only for 0 and 1 if units are many.

    Permutations with at most c inversions are counted by adding one unit after another: unit j adds 0 to
    j − 1 inversions.
    """
    permutations = math.factorial(units)
    if units > EXACT_UNITS:
        return np.array([2 / permutations, 2 * units / permutations])
    half = units * (units - 1) // 4
    ways = [1] + [0] * half  # with exactly c inversions
    for j in range(2, units + 1):
        at_most = np.cumsum(np.array(ways, dtype=object)).tolist()
        ways = [at_most[c] - (at_most[c - j] if c >= j else 0) for c in range(half + 1)]
    at_most = np.cumsum(np.array(ways, dtype=object)).tolist()
    return np.array([min(1.0, 2 * number / permutations) for number in at_most])
