"""Evidence by family: every metric compared with random scores. It is reported and decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...types import Direction, Family, Sees
from ..observations import Measurement, SeedResult
from ..statistics import mean_over_seeds, paired_interval
from .family_wording import family_clause
from .records import FamilyEvidence, Heading, Status, UnitName, VerdictRow

Array = np.ndarray[Any, np.dtype[np.float64]]

TRUSTED: Final = 0.05  # share of inversions in the audit above which a metric's rows are set apart
WORTH_NAMING: Final = 0.05  # share of the way from random scores to the measure's bound

HEADINGS: Final[dict[Heading, tuple[Family, ...]]] = {
    "faithfulness": ("erasure", "intervention", "agreement", "information", "randomisation", "robustness"),
    "interpretability": ("ground-truth",),
}


@dataclass(frozen=True, slots=True)
class Tested:
    """One measure of one explanation and the same measure of random scores; values are [S, N]."""

    metric: str
    measure: str
    family: Family
    sees: Sees
    reference: str | None
    better: Direction  # up or down
    best: float
    range: float  # how far two values of the measure can lie apart
    values: Array
    random: Array

    @property
    def sign(self) -> float:
        """1 where higher is better, −1 where lower is."""
        return 1.0 if self.better == "up" else -1.0


def evidence_by_family(
    results: Sequence[SeedResult],
    explanations: Sequence[str],
    *,
    own: str,
    random: str,
    inversions: Mapping[str, float],
    unit: UnitName = "word",
) -> tuple[FamilyEvidence, ...]:
    """What every family shows about every explanation.

    `own` is the explanation that rows of the model itself are about, `random` the baseline, `inversions`
    by label the share of cases in which the audit saw a metric prefer a wrong explanation.
    """
    found = []
    for name in explanations:
        tested = tested_measures(results, name, own, random)
        for heading, families in HEADINGS.items():
            for family in families:
                mine = [t for t in tested if t.family == family]
                if not mine:
                    continue
                rows = tuple(
                    _row(t, trusted=inversions.get(t.metric, 0.0) <= TRUSTED, is_random=name == random)
                    for t in mine
                )
                status = family_status(rows)
                found.append(
                    FamilyEvidence(
                        heading=heading,
                        family=family,
                        explanation=name,
                        status=status,
                        clause=family_clause(family, status, rows, unit, own=name == own),
                        rows=rows,
                    )
                )
    return tuple(found)


def tested_measures(results: Sequence[SeedResult], explanation: str, own: str, random: str) -> list[Tested]:
    """The first measure with a better side of every metric that compares with random scores."""
    first = results[0].observation.measurements
    found = []
    for m in first:
        mine = m.explanation == explanation or (m.explanation is None and explanation == own)
        baseline = next((b for b in first if b.key == (m.metric, random, m.reference)), None)
        sides = [(n, measure) for n, measure in enumerate(m.measures) if measure.direction != "none"]
        if not mine or baseline is None or m.reference == explanation or not sides:
            continue
        column, measure = sides[0]
        bound = measure.bounds[1] if measure.direction == "up" else measure.bounds[0]
        found.append(
            Tested(
                metric=m.metric,
                measure=measure.name,
                family=m.family,
                sees=m.sees,
                reference=m.reference,
                better=measure.direction,
                best=bound if measure.best is None else measure.best,
                range=measure.bounds[1] - measure.bounds[0],
                values=_over_seeds(results, m)[:, :, column],
                random=_over_seeds(results, baseline)[:, :, column],
            )
        )
    return found


def _over_seeds(results: Sequence[SeedResult], like: Measurement) -> Array:
    return np.stack([m.values for r in results for m in r.observation.measurements if m.key == like.key])


def _row(t: Tested, *, trusted: bool, is_random: bool) -> VerdictRow:
    gain = paired_interval(t.sign * t.values[:, :, None], t.sign * t.random[:, :, None])
    mean = float(gain.mean[0])
    low, high = (float(np.clip(end[0], -t.range, t.range)) for end in (gain.low, gain.high))
    at_random = float(mean_over_seeds(t.random[:, :, None])[0])
    way = t.sign * (t.best - at_random)
    return VerdictRow(
        metric=t.metric,
        measure=t.measure,
        reference=t.reference,
        sees=t.sees,
        mean=float(mean_over_seeds(t.values[:, :, None])[0]),
        random=at_random,
        difference=t.sign * mean,
        low=min(t.sign * low, t.sign * high),
        high=max(t.sign * low, t.sign * high),
        n=int((~np.isnan(t.values)).sum()),
        status="chance" if is_random else row_status(mean, (low, high), way),
        trusted=trusted,
    )


def row_status(gain: float, interval: tuple[float, float], way: float) -> Status:
    """What a gain over random scores says, on the way to the best value that the measure can have."""
    low, high = interval
    if not np.isfinite([gain, low, high]).all() or np.isnan(way) or way < 0:
        return "unknown"
    if way == 0:  # random scores are at the best value, as where scores that ignore the input never change
        return "contradicted" if high < 0 else "unknown"
    if low == high == 0:  # as where no decision flips at all: the test had nothing to see
        return "unknown"
    worth = WORTH_NAMING * way if np.isfinite(way) else 0.0  # a measure without a bound: its sign alone
    if -worth < low and high < worth:
        return "chance"
    if low > 0 and gain >= worth:
        return "supported"
    return "contradicted" if high < 0 else "unknown"


def family_status(rows: Iterable[VerdictRow]) -> Status:
    """Of the rows that the audit trusts: what they say together, unknown where they contradict each other."""
    said = {row.status for row in rows if row.trusted}
    if {"supported", "contradicted"} <= said:
        return "unknown"
    for status in ("supported", "contradicted"):
        if status in said:
            return status
    return "chance" if said == {"chance"} else "unknown"
