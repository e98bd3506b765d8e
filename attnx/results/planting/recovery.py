"""How often each explanation finds the trigger, over triggers, seeds and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Any

import numpy as np

from ...request.planted import FOUND
from ...types import TaskData
from ..examples import Examples
from ..report import Report
from ..statistics import counted_interval
from .report import PlantedExample, PlantedTrigger, Recovery, TriggerCheck

Array = np.ndarray[Any, np.dtype[Any]]
SHOWN = 6  # examples on the page


@dataclass(frozen=True)
class Trial:
    """One trigger: what its models answered, and what their explanations found."""

    data: TaskData
    explanations: tuple[str, ...]
    trigger: PlantedTrigger
    checks: tuple[TriggerCheck, ...]
    counted: Mapping[int, Array] = field(default_factory=dict)  # by seed that uses it: [N] where it decides
    report: Report | None = None  # of these seeds

    @property
    def explained(self) -> Examples:
        """The test texts with every measure of every explanation."""
        assert self.report is not None
        return self.report.examples()

    @property
    def words(self) -> int:
        """How many words the trigger has."""
        return sum(self.data.test[0].rationale or ())


def _found(trial: Trial, measure: str, explanation: str) -> list[Array]:
    """[N] by seed: a measure of one explanation in the texts in which the trigger decides, NaN elsewhere."""
    examples = trial.explained
    column = next(
        at
        for at, one in enumerate(examples.columns)
        if (one.metric, one.measure, one.explanation) == (FOUND, measure, explanation)
    )
    return [
        np.where(trial.counted[seed], examples.measures[at, :, column], np.nan)
        for at, seed in enumerate(examples.seeds)
    ]


def recovery_rows(trials: Sequence[Trial]) -> tuple[Recovery, ...]:
    """Every explanation over all triggers and seeds, the one that finds the trigger most often first."""
    if not trials:
        return ()
    rows = [_row(name, trials) for name in trials[0].explanations]
    return tuple(sorted(rows, key=lambda row: -(row.found or 0.0)))


def _row(explanation: str, trials: Sequence[Trial]) -> Recovery:
    ids = sorted({example.id for trial in trials for example in trial.data.test})
    place = {name: at for at, name in enumerate(ids)}

    def over_texts(measure: str) -> list[list[Array]]:
        """By trigger and seed, the texts of all triggers in the same order."""
        spread = []
        for trial in trials:
            at = [place[example.id] for example in trial.data.test]
            of_seeds = []
            for values in _found(trial, measure, explanation):
                row = np.full(len(ids), np.nan)
                row[at] = values
                of_seeds.append(row)
            spread.append(of_seeds)
        return spread

    hits = [[np.where(np.isnan(v), v, v > 1 - 1e-9) for v in of] for of in over_texts("token-f1")]
    found, low, high = interval(repetitions(hits))
    precision = interval(repetitions(over_texts("average-precision")))
    ranked = [
        one
        for trial in trials
        if trial.report
        for one in trial.report.ranking
        if one.explanation == explanation and one.share is not None
    ]
    several = len(ranked) > 1
    shares = [one.share for one in ranked if one.share is not None]
    return Recovery(
        explanation=explanation,
        found=found,
        low=low,
        high=high,
        average_precision=precision[0],
        average_precision_low=precision[1],
        average_precision_high=precision[2],
        texts=int(sum((~np.isnan(v)).sum() for of in hits for v in of)),
        share=float(np.mean(shares)) if shares else None,
        share_low=min(shares) if several else ranked[0].low if ranked else None,
        share_high=max(shares) if several else ranked[0].high if ranked else None,
        grades=tuple(dict.fromkeys(one.grade for one in ranked)),
    )


def chance_of_trials(trials: Sequence[Trial]) -> float:
    """What random scores find, in the texts that count."""
    found = [
        chance_of([len(trial.data.test[row].units) for row in np.flatnonzero(decides)], trial.words)
        for trial in trials
        for decides in trial.counted.values()
    ]
    return float(np.mean(found))


def shown_examples(trial: Trial) -> list[PlantedExample]:
    """Texts in which some explanations find the trigger and others do not, then others, of the first seed."""
    examples = trial.explained
    seed = examples.seeds[0]
    names = trial.explanations
    hits = {name: _found(trial, "token-f1", name)[0] for name in names}
    rows = [
        row
        for row in np.flatnonzero(trial.counted[seed]).tolist()
        if not any(np.isnan(hits[name][row]) for name in names)
    ]
    rows.sort(key=lambda row: (len({bool(hits[name][row] > 1 - 1e-9) for name in names}) == 1, row))
    without = trial.data.contrasts["without"]
    shown = []
    for row in rows[:SHOWN]:
        stored, example = examples[row], trial.data.test[row]
        shown.append(
            PlantedExample(
                id=example.id,
                trigger=trial.trigger.number,
                seed=seed,
                units=example.units,
                marked=tuple(at for at, decides in enumerate(example.rationale or ()) if decides),
                label=trial.data.label_names[example.label],
                own_label=trial.data.label_names[without[example.id].label],
                scores={name: stored.seen[0].scores[name] for name in names},
                found={name: bool(hits[name][row] > 1 - 1e-9) for name in names},
            )
        )
    return shown


def chance_of(lengths: Sequence[int], words: int) -> float:
    """How often random scores put the trigger words first, in texts of these lengths."""
    return float(np.mean([1 / comb(length, words) for length in lengths]))


def interval(values: Array) -> tuple[float, float, float]:
    """The mean of values in [0, 1], [R, N], with its interval over repetitions and texts."""
    found = counted_interval(values[:, :, None])
    return float(found.mean[0]), float(found.low[0]), float(found.high[0])


def repetitions(values: Sequence[Sequence[Array]]) -> Array:
    """[R, N] from [N] of every seed of every trigger: the seeds of one trigger, or means of several triggers.

    With several triggers the seeds of each are averaged text by text, so that the interval covers other
    triggers.
    """
    if len(values) == 1:
        return np.stack(values[0])
    with np.errstate(invalid="ignore"):
        return np.stack([_mean(np.stack(of_seeds)) for of_seeds in values])


def _mean(values: Array) -> Array:
    """[S, N] -> [N] over the seeds that have a value."""
    defined = ~np.isnan(values)
    sums = np.where(defined, values, 0.0).sum(0)
    return np.divide(sums, defined.sum(0), out=np.full(values.shape[1], np.nan), where=defined.any(0))
