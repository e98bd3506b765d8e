"""From measures to a verdict: one rule for every metric, docs/verdict.md in words.

A row is the paired difference of a metric's first measure with a better side between an explanation
and random scores, on the same examples and seeds, with an interval corrected for the number of rows.
Its size is the share of the way from random scores to the best attainable value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from ...types import Direction, Family, Sees
from ..observations import Measurement, SeedResult
from ..statistics import mean_over_seeds, paired_interval
from .constant_answer import UselessModel
from .records import Clause, Heading, Status, UnitName, Verdict, VerdictRow
from .wording import NO_VERDICT, clause

Array = np.ndarray[Any, np.dtype[np.float64]]

WORTH_NAMING: Final = 0.05  # share of the way from random scores to the best attainable
TRUSTED: Final = 0.05  # share of inversions in the audit above which a metric is shown and does not decide
ERROR: Final = 0.05  # of all rows that decide about one explanation under one heading

# The families of each heading, from the most to the least trusted where the audit says nothing.
HEADINGS: Final[dict[Heading, tuple[Family, ...]]] = {
    "faithfulness": ("erasure", "intervention", "agreement", "information"),
    "interpretability": ("ground-truth", "context", "shape"),
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
    against: Literal["random", "midpoint"]


def judge(
    results: Sequence[SeedResult],
    explanations: Sequence[str],
    *,
    own: str,
    random: str,
    inversions: Mapping[str, float],
    useless: UselessModel | None = None,
    unit: UnitName = "word",
) -> tuple[Verdict, ...]:
    """The verdicts on every explanation: one for each heading, and one for each family of evidence.

    `own` is the explanation that rows of the model itself are about, `random` the baseline,
    `inversions` by label the share of cases in which the audit saw a metric prefer a wrong explanation,
    `useless` says why the model is not worth explaining, if it is not, and `unit` how a reader calls a
    unit.
    """
    verdicts: list[Verdict] = []
    for name in explanations:
        tested = _tested(results, name, own, random)
        for heading, order in HEADINGS.items():
            found = [t for t in tested if t.family in order]
            if not found:
                continue
            trusted = [inversions.get(t.metric, 0.0) <= TRUSTED for t in found]
            level = 1 - ERROR / max(1, sum(trusted))
            rows = [
                (t.family, _row(t, level, decides=decides, is_random=name == random))
                for t, decides in zip(found, trusted, strict=True)
            ]
            by_family = {family: [row for of, row in rows if of == family] for family in order}
            lines = [
                _of_family(heading, family, name, mine, useless, unit, own=name == own)
                for family, mine in by_family.items()
                if mine
            ]
            verdicts += [_of_heading(heading, name, lines, useless), *lines]
    return tuple(verdicts)


def _tested(results: Sequence[SeedResult], explanation: str, own: str, random: str) -> list[Tested]:
    """The headline of every metric that compares an explanation with random scores or a midpoint."""
    first = results[0].observation.measurements
    found = []
    for m in first:
        mine = m.explanation == explanation or (m.explanation is None and explanation == own)
        baseline = next((b for b in first if b.key == (m.metric, random, m.reference)), None)
        headline = _headline(m)
        if not mine or m.reference == explanation or headline is None:
            continue
        column, better = headline
        measure = m.measures[column]
        bound = measure.bounds[1] if better == "up" else measure.bounds[0]
        values = _over_seeds(results, m)[:, :, column]  # [S, N]
        if baseline is not None:
            others = _over_seeds(results, baseline)[:, :, column]
        elif measure.midpoint is not None:
            others = np.where(np.isnan(values), np.nan, measure.midpoint)
        else:
            continue
        best = bound if measure.best is None else measure.best
        found.append(
            Tested(
                metric=m.metric,
                measure=measure.name,
                family=m.family,
                sees=m.sees,
                reference=m.reference,
                better=better,
                best=best,
                range=measure.bounds[1] - measure.bounds[0],
                values=values,
                random=others,
                against="midpoint" if baseline is None else "random",
            )
        )
    return found


def _headline(m: Measurement) -> tuple[int, Direction] | None:
    """The first measure of a metric that has a better side, and that side."""
    sides = (measure.direction if measure.direction != "none" else measure.easier for measure in m.measures)
    return next(((column, side) for column, side in enumerate(sides) if side != "none"), None)


def _over_seeds(results: Sequence[SeedResult], like: Measurement) -> Array:
    return np.stack([m.values for r in results for m in r.observation.measurements if m.key == like.key])


def _row(t: Tested, level: float, *, decides: bool, is_random: bool) -> VerdictRow:
    sign = 1.0 if t.better == "up" else -1.0
    values, random = sign * t.values[:, :, None], sign * t.random[:, :, None]
    gain, alone = paired_interval(values, random, level), paired_interval(values, random)
    mean = float(gain.mean[0])
    low, high = (float(np.clip(end[0], -t.range, t.range)) for end in (gain.low, gain.high))
    at_random = float(mean_over_seeds(t.random[:, :, None])[0])
    way = sign * (t.best - at_random)  # from random scores to the best attainable
    within = (float(alone.low[0]), float(alone.high[0]))
    status = "chance" if is_random else row_status(mean, (low, high), within, way)
    return VerdictRow(
        metric=t.metric,
        measure=t.measure,
        reference=t.reference,
        sees=t.sees,
        mean=float(mean_over_seeds(t.values[:, :, None])[0]),
        random=at_random,
        against=t.against,
        difference=sign * mean,
        low=min(sign * low, sign * high),
        high=max(sign * low, sign * high),
        share=mean / way if way > 0 else None,
        n=int((~np.isnan(t.values)).sum()),
        status=status,
        decides=decides,
    )


def row_status(gain: float, corrected: tuple[float, float], alone: tuple[float, float], way: float) -> Status:
    """What a gain over random scores says, on the way to the best attainable.

    A difference is claimed where the interval that is corrected for the number of rows lies on one
    side. That there is no relevant difference is claimed for a whole family, if every row shows it:
    then each may say so by itself, and the interval `alone` is that of the row as if it were the only one.
    """
    low, high = corrected
    if not (np.isfinite([gain, low, high, way]).all() and way > 0):
        return "unknown"
    if low == high == 0:  # as where no decision flips at all: the test had nothing to see
        return "unknown"
    worth = WORTH_NAMING * way
    if -worth < alone[0] and alone[1] < worth:
        return "chance"
    if low > 0 and gain >= worth:
        return "supported"
    return "contradicted" if high < 0 else "unknown"


def family_status(rows: Iterable[VerdictRow]) -> Status:
    """Of the rows that decide: what they say together, and unknown where they contradict each other."""
    said = {row.status for row in rows if row.decides}
    if {"supported", "contradicted"} <= said:
        return "unknown"
    for status in ("supported", "contradicted"):
        if status in said:
            return status
    return "chance" if said == {"chance"} else "unknown"


def _of_family(
    heading: Heading,
    family: Family,
    explanation: str,
    rows: Sequence[VerdictRow],
    useless: UselessModel | None,
    unit: UnitName,
    *,
    own: bool,
) -> Verdict:
    status = "unknown" if useless else family_status(rows)
    shown = clause(family, status, rows, unit, own=own)
    return Verdict(
        heading=heading,
        family=family,
        explanation=explanation,
        status=status,
        clauses=(Clause(family=None, status=status, text=NO_VERDICT) if useless else shown,),
        rows=tuple(rows),
    )


def _of_heading(
    heading: Heading, explanation: str, lines: Sequence[Verdict], useless: UselessModel | None
) -> Verdict:
    """Follows the most trusted family with a test that may decide; names those that say otherwise.

    Where that family cannot tell, neither can the heading: less trusted ones do not step in.
    """
    leading = next((line for line in lines if any(row.decides for row in line.rows)), lines[0])
    others = [
        line for line in lines if line is not leading and line.status not in (leading.status, "unknown")
    ]
    if useless:
        clauses: tuple[Clause, ...] = (Clause(family=None, status="unknown", text=useless.text),)
    else:
        clauses = tuple(said for line in (leading, *others) for said in line.clauses)
    return Verdict(
        heading=heading,
        family=None,
        explanation=explanation,
        status="unknown" if useless else leading.status,
        clauses=clauses,
        rows=(),
    )
