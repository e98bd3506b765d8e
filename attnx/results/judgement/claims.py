"""Whether a paper's claims hold in what was measured here: beyond noise, or not."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil
from typing import Any

import numpy as np

from ...registry.experiments import Claim
from ..reproduction import ClaimFound, ClaimStatus, Compared, Measured
from ..statistics import LEVEL, MeanIntervals, counted_interval, mean_interval, seed_means

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class RowValues:
    """The values of one column in one row: of S seeds on N examples, or one for each seed."""

    values: Array  # [S, N]
    examples: Hashable  # which: two samples of the same are compared example by example
    cells: int = 1  # runs that they are the mean of
    counted: bool = False  # the examples are runs, each with 1 or 0: it is as claimed, or it is not

    @classmethod
    def of_several(cls, samples: Sequence[RowValues]) -> RowValues:
        """The mean of several runs: one value for each seed. Runs of 0 or 1 are counted instead."""
        if len(samples) == 1:
            return samples[0]
        means = np.stack([seed_means(sample.values[:, :, None])[:, 0] for sample in samples])  # [C, S]
        if np.isin(means[~np.isnan(means)], (0.0, 1.0)).all():
            return cls(means.T, None, len(samples), counted=True)
        return cls(means.mean(0)[:, None], None, len(samples))

    def interval(self, level: float = LEVEL) -> MeanIntervals:
        """The mean with its interval over seeds and examples."""
        return (counted_interval if self.counted else mean_interval)(self.values[:, :, None], level)


Place = tuple[str, str]  # row and column
ValuesByPlace = Mapping[Place, RowValues]
MOST_SEEDS = 100  # a difference that needs more is as good as none


@dataclass(frozen=True, slots=True)
class Found:
    """What claims are held to."""

    samples: ValuesByPlace
    published: Mapping[Place, float | None]
    undertrained: Mapping[str, str]  # why, by row
    accuracies: Collection[str] = ()  # columns: a row that is inaccurate there need not be trained


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One difference that a claim says is above 0: sign · (first − second), or − a bound."""

    what: str
    first: Place
    second: Place | None = None
    bound: float = 0.0
    sign: int = 1

    def difference(self, samples: ValuesByPlace) -> RowValues | None:
        """Of each seed on each example; None where a row lacks."""
        first = samples.get(self.first)
        if first is None or self.second is None:
            return first
        second = samples.get(self.second)
        return None if second is None else _difference(first, second)

    def interval(self, difference: RowValues, level: float) -> MeanIntervals:
        """Its mean and interval, with the sign and the bound of the claim."""
        found = difference.interval(level)
        mean, low, high = (self.sign * (end - self.bound) for end in (found.mean, found.low, found.high))
        return MeanIntervals(mean, np.minimum(low, high), np.maximum(low, high), found.seeds)

    def published(self, values: Mapping[Place, float | None]) -> float | None:
        """The same difference of the printed values."""
        first = values.get(self.first)
        second = self.bound if self.second is None else values.get(self.second)
        return None if first is None or second is None else self.sign * (first - second)

    def must_be_trained(self, accuracies: Collection[str]) -> set[str]:
        """The rows whose models must be trained: all but those that are said to be less accurate."""
        if self.second is None or (self.first[1] in accuracies and self.first[1] == self.second[1]):
            return {self.first[0]}
        return {self.first[0], self.second[0]}


def measured(row: str, column: str, sample: RowValues, published: float | None) -> Measured:
    """A sample as a row of the table has it."""
    found = sample.interval()
    return Measured(
        row=row,
        column=column,
        mean=found.mean[0],
        low=found.low[0],
        high=found.high[0],
        seeds=tuple(seed_means(sample.values[:, :, None])[:, 0]),
        cells=sample.cells,
        published=published,
    )


def decide(claim: Claim, rows: Sequence[str], found: Found) -> ClaimFound:
    """Hold a claim to what was measured.

    It holds where all its comparisons do, each with an interval on the side that it says; it does not
    where one of them lies on the other side, at a level corrected for the number of comparisons that it asks
    for, run or not, so that what is run later changes nothing that was said; else it is open.
    With one seed everything stays open: it says nothing about other training runs. A comparison of models
    that were not trained says nothing either: it is undertrained.
    """
    asked = [(one, one.difference(found.samples)) for one in _comparisons(claim, rows)]
    run = [(one, difference) for one, difference in asked if difference is not None]
    reasons = {
        f"{row}: {found.undertrained[row]}": None
        for one, _ in run
        for row in sorted(one.must_be_trained(found.accuracies))
        if row in found.undertrained
    }
    compared = [_compared(one, difference, len(asked), found) for one, difference in run]
    return conclude(claim.says, compared, len(asked) - len(run), "; ".join(reasons))


def conclude(says: str, compared: Sequence[Compared], missing: int, undertrained: str) -> ClaimFound:
    """What became of a claim, from its comparisons and from why models count as undertrained."""
    status = _status(compared)
    reason, next_step = _undecided(status, compared, undertrained)
    return ClaimFound(
        says=says,
        status=status,
        compared=tuple(compared),
        missing=missing,
        reason=reason,
        next_step=next_step,
    )


def _status(compared: Sequence[Compared]) -> ClaimStatus:
    found = {one.status for one in compared}
    for status in ("does not hold", "undertrained", "open"):
        if status in found:
            return status
    return "holds" if compared else "open"


def _undecided(status: ClaimStatus, compared: Sequence[Compared], undertrained: str) -> tuple[str, str]:
    """Why a claim is not decided, and what would decide it."""
    if status == "undertrained":
        return undertrained, "more epochs or more training data"
    if status != "open" or not compared:
        return "", ""
    undecided = [one for one in compared if one.status == "open"]
    if all(one.seeds_needed is None for one in undecided):
        return "one seed, or values without an interval", "at least three seeds"
    reason = f"{len(undecided)} of {len(compared)} intervals include 0"
    needed = max(one.seeds_needed or 0 for one in undecided)
    if needed > MOST_SEEDS:
        return reason, f"nothing practical: at this difference more than {MOST_SEEDS} seeds"
    return reason, f"about {needed} seeds, if difference and spread stay the same"


def _comparisons(claim: Claim, rows: Sequence[str]) -> Iterator[_Comparison]:
    """Every comparison that the claim asks for."""
    about = claim.rows or rows
    if claim.greater:
        first, second = claim.greater
        for row in about:
            yield _Comparison(f"{row}: {first} − {second}", (row, first), (row, second))
    elif claim.higher:
        for high, low in product(claim.higher, claim.than):
            what = f"{claim.column}: {high} − {low}"
            yield _Comparison(what, (high, claim.column), (low, claim.column))
    else:
        sign, bound = (-1, claim.below or 0.0) if claim.above is None else (1, claim.above)
        for row in about:
            what = f"{row}: {claim.column} − {bound:g}" if sign > 0 else f"{row}: {bound:g} − {claim.column}"
            yield _Comparison(what, (row, claim.column), None, bound, sign)


def _difference(a: RowValues, b: RowValues) -> RowValues:
    """[S, N] on the same examples, or [S, 1] between the means of each seed."""
    if a.examples is not None and a.examples == b.examples and a.values.shape == b.values.shape:
        return RowValues(a.values - b.values, a.examples)
    return RowValues(seed_means(a.values[:, :, None]) - seed_means(b.values[:, :, None]), None)


def _compared(one: _Comparison, difference: RowValues, comparisons: int, found: Found) -> Compared:
    here = one.interval(difference, LEVEL)
    strict = one.interval(difference, 1 - (1 - LEVEL) / comparisons)
    mean, low, seeds = float(here.mean[0]), float(here.low[0]), int(here.seeds[0])
    status: ClaimStatus = "open"
    needed = None
    if found.undertrained.keys() & one.must_be_trained(found.accuracies):
        status = "undertrained"
    elif seeds > 1 and low > 0:
        status = "holds"
    elif seeds > 1 and strict.high[0] < 0:
        status = "does not hold"
    elif seeds > 1 and np.isfinite(low):
        half = mean - low  # it shrinks at least as fast as the root of the number of seeds grows
        far = half**2 * seeds >= MOST_SEEDS * mean**2
        needed = MOST_SEEDS + 1 if far else ceil(seeds * (half / mean) ** 2)
    return Compared(
        what=one.what,
        difference=here.mean[0],
        low=here.low[0],
        high=here.high[0],
        status=status,
        published=one.published(found.published),
        seeds_needed=needed,
    )
