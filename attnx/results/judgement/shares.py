"""The share of the way from random to best, with its interval.

For every text there is a gain (what an explanation has over random orders) and a range (what the best
order has). The share is the ratio of their means. It covers the models at hand: gains and ranges are
averaged over training seeds text by text, and the interval is over texts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

LEVEL: Final = 0.95
FEWEST: Final = 10  # texts: fewer have no interval
SMALLEST_RANGE: Final = 1e-6  # of probabilities: less is rounding


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the way from random to best, over so many texts; NaN where there is none."""

    value: float
    low: float
    high: float
    texts: int

    @property
    def known(self) -> bool:
        """Whether there is a share with an interval."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def mean_over_seeds_by_text(values: Array) -> Array:
    """[S, N] -> [N] the mean over the seeds that have a value; NaN where none has."""
    defined = ~np.isnan(values)
    counts = defined.sum(0)
    sums = np.where(defined, values, 0.0).sum(0)
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def share_of(gain: Array, range_: Array, level: float = LEVEL) -> Share:
    """The share of gains [S, N] in ranges [S, N], with its interval over texts.

    The interval is that of a ratio of means by the delta method, with Student's quantile for as many texts
    as effectively decide. Two imagined
    texts, one explained perfectly and one no better than random, are part of its width: without them texts
    that all agree would have an interval of no width at all, and few texts near 1 one that is too narrow.
    """
    g, d = mean_over_seeds_by_text(gain), mean_over_seeds_by_text(range_)
    both = ~(np.isnan(g) | np.isnan(d))
    g, d = g[both], d[both]
    n = len(g)
    if n < FEWEST or not has_range(d) or effective_texts(d) < FEWEST / 2:
        return Share(math.nan, math.nan, math.nan, n)
    share = float(g.sum() / d.sum())
    half = quantile(level, effective_texts(d)) * standard_error(g, d, share)
    return Share(share, share - half, min(share + half, max(1.0, share)), n)  # nothing is above the best


def standard_error(gain: Array, range_: Array, share: float) -> float:
    """The standard error of Σ gain / Σ range [N] each."""
    n = effective_texts(range_)
    typical = float((range_**2).sum() / range_.sum())  # the range of a text that has one
    rest = gain - share * range_  # [N] what the share leaves unexplained
    imagined = typical**2 * (share**2 + (1 - share) ** 2)
    return math.sqrt((float((rest**2).sum()) + imagined) * n / max(1.0, n - 1)) / float(range_.sum())


def effective_texts(range_: Array) -> float:
    """How many texts of equal range [N] decide as much: texts in which no order matters do not count."""
    return float(range_.sum() ** 2 / (range_**2).sum())


def mean_over_texts(values: Array, level: float = LEVEL) -> tuple[float, float]:
    """The interval of the mean of values [S, N] over texts, each averaged over seeds; NaN for too few."""
    found = mean_over_seeds_by_text(values)
    found = found[~np.isnan(found)]
    if len(found) < 2:
        return math.nan, math.nan
    half = quantile(level, len(found)) * float(found.std(ddof=1)) / math.sqrt(len(found))
    return float(found.mean()) - half, float(found.mean()) + half


def has_range(range_: Array) -> bool:
    """Whether the best order [N] is better than random ones at all, beyond noise."""
    n, mean = len(range_), float(range_.mean())
    if mean < SMALLEST_RANGE:
        return False
    return mean > 2 * float(range_.std(ddof=1)) / math.sqrt(n)


def quantile(level: float, n: float) -> float:
    """Student's quantile for a two-sided interval over n texts."""
    from scipy.special import stdtrit  # not needed to list, help or refuse

    return float(stdtrit(max(1.0, n - 1), (1 + level) / 2))


def texts_needed(share: Share, targets: tuple[float, ...]) -> int | None:
    """About how many texts make the interval as narrow as the widest of these half-widths."""
    widest = max((target for target in targets if target > 0), default=0.0)
    half = (share.high - share.low) / 2
    if not share.known or widest <= 0:
        return None
    return math.ceil(share.texts * (half / widest) ** 2)
