"""The audit of metrics: how often each prefers an explanation that is known to be wrong.

Explanations stand on a ladder, from the right one to wrong ones. A metric inverts a pair where it
prefers the lower one beyond its 95 % interval, on the same examples of one trained model; a metric of
a whole split has one value per training run, and its interval is over training runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, ClassVar, Literal

import numpy as np

from ..types import Measure
from .formatting import Number
from .observations import Key, Measurement
from .provenance import Record
from .result import Result
from .statistics import mean_over_seeds, paired_interval

Array = np.ndarray[Any, np.dtype[np.float64]]
Preference = Literal["right", "inverted", "open"]
Values = Callable[[str, str], Array | None]  # of a kind of model and an explanation: [S, N]


class AuditedModel(Record):
    """A model of the audit, and how it is known which units it uses."""

    task: str
    model: str
    kind: Literal["honest", "deceived"]
    seed: int
    accuracy: float
    without_deciding: float  # accuracy when the deciding units are deleted
    without_others: float  # and when as many others are
    attention_on_deciding: float
    verified: bool


class Noticed(Record):
    """In how many comparisons the honest model came out better, or worse, beyond the interval."""

    of: int
    noticed: int
    fooled: int


class AuditRow(Record):
    """One measure of a metric that has a better side, with one reference where it needs one."""

    metric: str  # its label
    name: str  # of the metric, without options
    measure: str
    family: str
    reference: str | None
    headline: bool  # the measure that a verdict is about
    reads: Literal["explanations", "models"]  # what it can be audited on
    comparisons: int  # of explanations whose order is known, and of honest with deceived attention
    inversions: int
    correct: int  # ordered correctly beyond the interval
    degradation: Number  # mean rank correlation of quality with the share that was replaced; −1 is best
    monotone: int  # courses that fall at every step
    courses: int
    deceived: Noticed
    randomised: Noticed


class AuditReport(Result):
    """Everything an audit found."""

    file_stem: ClassVar[str] = "audit"

    tasks: tuple[str, ...]
    models: tuple[str, ...]
    seeds: tuple[int, ...]
    examples: int  # of a test split
    ladder: tuple[tuple[str, ...], ...]
    course: tuple[str, ...]
    verification: tuple[AuditedModel, ...]
    rows: tuple[AuditRow, ...]
    silent: tuple[str, ...]  # metrics without a preferred direction, which cannot be audited
    environment: dict[str, str]
    seconds: float

    def records(self) -> list[dict[str, Any]]:
        """The measures, one row each; the counts of models have columns of their own."""
        return [
            {
                **row.model_dump(exclude={"deceived", "randomised"}),
                **{
                    f"{kind}_{name}": count
                    for kind, found in (("deceived", row.deceived), ("randomised", row.randomised))
                    for name, count in found.model_dump().items()
                },
            }
            for row in self.rows
        ]

    def registry(self) -> str:
        """The section of a registry that makes these results known, as YAML text."""
        return "\n".join(
            [
                "audit:",
                *(f"  {name}: {{inversions: {n}, comparisons: {of}}}" for name, n, of in self.by_metric()),
                "",
            ]
        )

    def by_metric(self) -> list[tuple[str, int, int]]:
        """Every metric with the inversions and comparisons of its headline, over all references."""
        found: dict[str, tuple[int, int]] = {}
        for row in self.rows:
            if row.headline and row.comparisons:
                inversions, comparisons = found.get(row.name, (0, 0))
                found[row.name] = (inversions + row.inversions, comparisons + row.comparisons)
        return [(name, *counts) for name, counts in found.items()]

    def __repr__(self) -> str:
        found = self.by_metric()
        inversions, comparisons = (sum(n for _, n, _ in found), sum(of for _, _, of in found))
        return f"<AuditReport: {len(found)} metrics, {inversions} of {comparisons} comparisons inverted>"


@dataclass(frozen=True, slots=True)
class Case:
    """The training runs of one model on one task: what was measured, by kind of model and seed."""

    seen: Mapping[str, Sequence[Mapping[Key, Measurement]]]  # honest, deceived, randomised


def audit_rows(
    cases: Sequence[Case],
    ladder: Sequence[Sequence[str]],
    course: Sequence[str],
    own: str,
    names: Mapping[str, str],
) -> tuple[tuple[AuditRow, ...], tuple[str, ...]]:
    """The rows of all metrics, and the metrics without a preferred direction.

    `own` is the attention of a model, `names` has the name of every metric by its label.
    """
    first = cases[0].seen["honest"][0]
    rows: list[AuditRow] = []
    silent: list[str] = []
    for metric, reference in dict.fromkeys((m.metric, m.reference) for m in first.values()):
        like = next(m for m in first.values() if (m.metric, m.reference) == (metric, reference))
        sides = [(i, measure) for i, measure in enumerate(like.measures) if measure.direction != "none"]
        silent += [] if sides or metric in silent else [metric]
        for column, measure in sides:
            blocks = [block for case in cases for block in _blocks(case, like, column)]
            headline = column == sides[0][0]
            rows.append(_row(like, names[metric], measure, blocks, ladder, course, own, headline=headline))
    return tuple(rows), tuple(silent)


def _blocks(case: Case, like: Measurement, column: int) -> Iterator[Values]:
    """What one measure says in a case: training by training, or over all of them for a whole split."""
    seeds = range(len(case.seen["honest"]))
    for chosen in [list(seeds)] if like.whole_split else [[seed] for seed in seeds]:

        def values(kind: str, explanation: str, chosen: Sequence[int] = chosen) -> Array | None:
            key = (like.metric, None if like.explanation is None else explanation, like.reference)
            found = [case.seen[kind][seed].get(key) for seed in chosen]
            return None if None in found else np.stack([m.values[:, column] for m in found if m])  # [S, N]

        yield values


def _row(
    like: Measurement,
    name: str,
    measure: Measure,
    blocks: Sequence[Values],
    ladder: Sequence[Sequence[str]],
    course: Sequence[str],
    own: str,
    *,
    headline: bool,
) -> AuditRow:
    sign = 1.0 if measure.direction == "up" else -1.0
    of_model = like.explanation is None
    pairs = [pair for above, below in combinations(ladder, 2) for pair in product(above, below)]
    ordered = [
        _preference(values("honest", above), values("honest", below), sign)
        for values in blocks
        for above, below in ([] if of_model else pairs)
        if like.reference not in (above, below)
    ]
    deceived, randomised = (
        [_preference(values("honest", own), values(kind, own), sign) for values in blocks]
        for kind in ("deceived", "randomised")
    )
    falls = [] if of_model else [f for values in blocks if (f := _fall(values, course, sign)) is not None]
    claims = like.family != "context"  # what a hidden state depends on does not depend on attention to it
    comparable = [*filter(None, ordered), *(filter(None, deceived) if claims else ())]
    return AuditRow(
        metric=like.metric,
        name=name,
        measure=measure.name,
        family=like.family,
        reference=like.reference,
        headline=headline,
        reads="models" if of_model else "explanations",
        comparisons=len(comparable),
        inversions=comparable.count("inverted"),
        correct=comparable.count("right"),
        degradation=float(np.mean([tau for tau, _ in falls])) if falls else np.nan,
        monotone=sum(steady for _, steady in falls),
        courses=len(falls),
        deceived=_noticed(deceived),
        randomised=_noticed(randomised),
    )


def _noticed(preferences: Sequence[Preference | None]) -> Noticed:
    known = [p for p in preferences if p is not None]
    return Noticed(of=len(known), noticed=known.count("right"), fooled=known.count("inverted"))


def _preference(better: Array | None, worse: Array | None, sign: float) -> Preference | None:
    """Whether [S, N] values prefer what is known to be better; None where they cannot be compared."""
    if better is None or worse is None:
        return None
    gain = paired_interval(sign * better[:, :, None], sign * worse[:, :, None])
    low, high = float(gain.low[0]), float(gain.high[0])
    if np.isnan(low):
        return None
    return "right" if low > 0 else "inverted" if high < 0 else "open"


def _fall(values: Values, course: Sequence[str], sign: float) -> tuple[float, bool] | None:
    """Rank correlation of quality with the step of degradation, and whether every step falls."""
    found = [values("honest", name) for name in course]
    if any(v is None for v in found):
        return None
    means = [sign * float(mean_over_seeds(v[:, :, None])[0]) for v in found if v is not None]
    steps = np.sign([b - a for a, b in combinations(means, 2)])
    if np.isnan(steps).any():
        return None
    return float(steps.mean()), bool((np.diff(means) < 0).all())
