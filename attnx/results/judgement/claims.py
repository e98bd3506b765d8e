"""Whether a paper's claims hold in what was measured here: beyond noise, or not."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ...registry.experiments import Claim
from ..reproduction import ClaimFound, ClaimStatus, Compared, Measured
from ..statistics import LEVEL, mean_interval, seed_means

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class RowValues:
    """The values of one column in one row: of S seeds on N examples, or one for each seed."""

    values: Array  # [S, N]
    examples: Hashable  # which: two samples of the same are compared example by example
    cells: int = 1  # runs that they are the mean of

    @classmethod
    def of_several(cls, samples: Sequence[RowValues]) -> RowValues:
        """The mean of several runs: one value for each seed."""
        if len(samples) == 1:
            return samples[0]
        means = np.stack([seed_means(sample.values[:, :, None])[:, 0] for sample in samples])  # [C, S]
        return cls(means.mean(0)[:, None], None, len(samples))


ValuesByPlace = Mapping[tuple[str, str], RowValues]  # by row and column


def measured(row: str, column: str, sample: RowValues, published: float | None) -> Measured:
    """A sample as a row of the table has it."""
    found = mean_interval(sample.values[:, :, None])
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


def decide(claim: Claim, rows: Sequence[str], samples: ValuesByPlace) -> ClaimFound:
    """Hold a claim to what was measured.

    It holds where all its comparisons do, each with an interval on the side that it says; it does not
    where one of them lies on the other side, at a level corrected for their number; else it is open.
    With one seed everything stays open: it says nothing about other training runs.
    """
    asked = list(_comparisons(claim, rows, samples))
    found = [(what, difference) for what, difference in asked if difference is not None]
    compared = tuple(_compared(what, difference, len(found)) for what, difference in found)
    return ClaimFound(
        says=claim.says, status=_status(compared), compared=compared, missing=len(asked) - len(found)
    )


def _status(compared: Sequence[Compared]) -> ClaimStatus:
    if any(one.status == "does not hold" for one in compared):
        return "does not hold"
    return "holds" if compared and all(one.status == "holds" for one in compared) else "open"


def _comparisons(
    claim: Claim, rows: Sequence[str], samples: ValuesByPlace
) -> Iterator[tuple[str, Array | None]]:
    """Every comparison in words with the values [S, N] that should be above 0; None where a row lacks."""

    def apart(a: tuple[str, str], b: tuple[str, str]) -> Array | None:
        return _difference(samples[a], samples[b]) if a in samples and b in samples else None

    about = claim.rows or rows
    if claim.greater:
        first, second = claim.greater
        yield from ((f"{row}: {first} − {second}", apart((row, first), (row, second))) for row in about)
    elif claim.higher:
        for high, low in product(claim.higher, claim.than):
            yield f"{claim.column}: {high} − {low}", apart((high, claim.column), (low, claim.column))
    else:
        sign, bound = (-1, claim.below or 0.0) if claim.above is None else (1, claim.above)
        for row in about:
            sample = samples.get((row, claim.column))
            what = f"{row}: {claim.column} − {bound:g}" if sign > 0 else f"{row}: {bound:g} − {claim.column}"
            yield what, None if sample is None else sign * (sample.values - bound)


def _difference(a: RowValues, b: RowValues) -> Array:
    """[S, N] on the same examples, or [S, 1] between the means of each seed."""
    if a.examples is not None and a.examples == b.examples and a.values.shape == b.values.shape:
        return a.values - b.values
    return seed_means(a.values[:, :, None]) - seed_means(b.values[:, :, None])


def _compared(what: str, difference: Array, comparisons: int) -> Compared:
    found = mean_interval(difference[:, :, None])
    strict = mean_interval(difference[:, :, None], 1 - (1 - LEVEL) / comparisons)
    status: ClaimStatus = "open"
    if found.seeds[0] > 1 and found.low[0] > 0:
        status = "holds"
    elif found.seeds[0] > 1 and strict.high[0] < 0:
        status = "does not hold"
    return Compared(what=what, difference=found.mean[0], low=found.low[0], high=found.high[0], status=status)
