"""The explanations of a run in order of their shares, and the one to use."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np

from ..statistics import holm
from .grades import NEARLY, grade_of
from .records import GRADES, Ranked
from .removal_test import RemovalTest
from .shares import FEWEST, Share, mean_over_seeds_by_text

Array = np.ndarray[Any, np.dtype[np.float64]]
LEVEL: Final = 0.05  # of all comparisons together


def ranking_of(
    test: RemovalTest,
    passes: Mapping[str, float],
    signed: Mapping[str, bool],
    classless: Collection[str] = (),
) -> tuple[Ranked, ...]:
    """Every explanation of the leading removal, the highest share first.

    A group begins with an explanation that differs beyond noise from everything above it: paired on the same
    texts, corrected for all pairs (Holm). So two equal explanations are rarely in different groups.
    """
    shares = {name: test.share(name) for name in test.columns}
    order = sorted(shares, key=lambda name: -_sortable(shares[name]))
    apart = different_pairs(test, order)
    groups: dict[str, int] = {}
    number = 0
    for place, name in enumerate(order):
        number += all(frozenset((other, name)) in apart for other in order[:place])
        groups[name] = number
    as_good = [name for name in order if frozenset((order[0], name)) not in apart]
    best = recommended(order, shares, as_good, passes)
    return tuple(
        Ranked(
            explanation=name,
            grade=grade_of(shares[name]),
            share=shares[name].value,
            low=shares[name].low,
            high=shares[name].high,
            passes=passes.get(name, math.nan),
            signed=signed.get(name, False),
            depends_on_class=name not in classless,
            group=groups[name],
            as_good=name in as_good,
            recommended=name == best,
        )
        for name in order
    )


def _sortable(share: Share) -> float:
    return -math.inf if math.isnan(share.value) else share.value


def recommended(
    order: Sequence[str], shares: Mapping[str, Share], as_good: Sequence[str], passes: Mapping[str, float]
) -> str | None:
    """The cheapest explanation that is practically as good as the best; None if none is any good.

    That is: it does not differ from the best beyond noise (`as_good`), or is less than NEARLY behind.
    """
    worth = GRADES.index("weak")
    best = max((_sortable(share) for share in shares.values()), default=-math.inf)
    usable = [
        name
        for name in order
        if (name in as_good or shares[name].value > best - NEARLY)
        and (grade := grade_of(shares[name])) in GRADES
        and GRADES.index(grade) >= worth
    ]
    return min(usable, key=lambda name: passes.get(name, math.inf), default=None)


def different_pairs(test: RemovalTest, names: Sequence[str]) -> set[frozenset[str]]:
    """The pairs of explanations whose values differ on the same texts beyond noise."""
    from scipy.special import stdtr  # not needed to list, help or refuse

    pairs = list(combinations(names, 2))
    p = np.full(len(pairs), np.nan)
    for number, (one, other) in enumerate(pairs):
        apart = mean_over_seeds_by_text(test.gain(one) - test.gain(other))
        apart = apart[~np.isnan(apart)]
        if len(apart) < FEWEST:
            continue
        spread = float(apart.std(ddof=1)) / math.sqrt(len(apart))
        if spread == 0:
            p[number] = 1.0 if apart.mean() == 0 else 0.0
        else:
            p[number] = 2 * float(stdtr(len(apart) - 1, -abs(float(apart.mean())) / spread))
    corrected = holm(p)
    return {frozenset(pair) for pair, value in zip(pairs, corrected, strict=True) if value < LEVEL}
