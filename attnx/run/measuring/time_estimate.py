"""An estimate of how long measuring will take, shown beforehand if that is long."""

from __future__ import annotations

import time
from typing import Final

import numpy as np
import torch

from ...formulas.chunks import passes_at_once
from ...progress import Progress
from ...protocols import Model
from ...request.plan import Tests
from ...results.formatting import duration
from ..evaluation_mode import evaluating
from .attribution import Named, trace_of
from .measurement import MeasureSplit, measure
from .sample import Array, part_of, units_sent
from .splits import Split, batches

LONG_TEXT: Final = 5_000  # units: leave-one-out costs the square of that
LONG: Final = 60.0  # seconds of one seed
ENOUGH: Final = 50_000  # units through a model: fewer take no minute anywhere, and need no trial
TRIAL: Final = 2.0  # seconds of measuring to judge by
SLOW: Final = 10.0  # seconds of a first measurement, next to which loading libraries is little
SHARE: Final = 10  # of the examples, a tenth at most is measured for an estimate


def announce_duration(
    tests: Tests[Named],
    model: Model,
    split: Split,
    rows: Array | None,
    seeds: int,
    progress: Progress,
    measure_split: MeasureSplit | None = None,
    *,
    workers: int = 1,
) -> None:
    """Show in one line how much goes through the model and how long that takes, if it is long.

    Some examples are measured to find out, by `measure_split` if passes must fit a device. Workers share
    the work; each computes as this process does.
    """
    counts = split.unit_counts.numpy()
    measured = np.arange(len(counts)) if rows is None else rows
    expensive = part_of(tests, expensive=True)
    units = units_sent(expensive, counts.astype(float)) * np.ones(len(counts))  # [N]
    sent = float(units[measured].sum())
    longest = int(counts.max(initial=0))
    if sent < ENOUGH:
        return
    seconds = sent / _units_per_second(model, split) / workers
    if seconds < LONG and longest < LONG_TEXT:
        return
    # What is declared is a bound: texts that several explanations ask for, and states, are computed once.
    tried = _tried(expensive, model, split, measured, units, progress, measure_split)
    seconds = min(seconds, tried / workers)
    if seconds < LONG and longest < LONG_TEXT:
        return
    each = f" for each of {seeds} seeds" if seeds > 1 else ""
    shared = f" with {workers} workers" if workers > 1 else ""
    progress.say(
        f"measuring takes about {duration(max(1.0, seconds))} here{shared}{each}, for up to "
        f"{_in_words(sent)} units through the model; the longest example has {longest} units (see --sample)"
    )


def _tried(
    tests: Tests[Named],
    model: Model,
    split: Split,
    rows: Array,
    units: Array,
    progress: Progress,
    measure_split: MeasureSplit | None,
) -> float:
    """Seconds of measuring these rows, from how long some of them take that cost what most do.

    One is measured for the first time, which loads libraries, then once more unless that was slow, then
    twice as many and so on until they take long enough to judge by.
    """
    order = rows[units[rows].argsort(kind="stable")]

    def middle(count: int) -> Array:
        start = (len(order) - count) // 2
        return order[start : start + count]

    def seconds_of(count: int) -> float:
        some = split.among(middle(count).tolist())
        started = time.perf_counter()
        if measure_split:
            measure_split(some, tests, None, _nothing)
        else:
            measure(model, batches(some), tests, some.corpus, _nothing, seed=0, size=count)
        return time.perf_counter() - started

    with progress.stage("estimating how long measuring takes", 1) as step:
        count, seconds = 1, seconds_of(1)
        if seconds < SLOW:
            seconds = seconds_of(1)
        while seconds < TRIAL and 2 * count * SHARE <= len(order):
            count *= 2
            seconds = seconds_of(count)
        step()
    return float(seconds / units[middle(count)].sum() * units[rows].sum())


def _in_words(count: float) -> str:
    return f"{count / 1e6:.0f} million" if count >= 1e6 else f"{count / 1e3:.0f} thousand"


def _nothing(done: int = 1, note: str = "", share: float = 0.0) -> None:
    """Shows no step of a trial."""


def _units_per_second(model: Model, split: Split) -> float:
    """Time one pass of some examples of medium length."""
    order = split.lengths.argsort()[len(split) // 2 :]
    batch = split.take(order[: passes_at_once(int(split.lengths[order[0]]))][:16])
    with evaluating(model):
        trace_of(model, batch)  # the first pass fills caches
        started = time.perf_counter()
        trace_of(model, batch)
    return float(torch.count_nonzero(batch.mask)) / max(1e-6, time.perf_counter() - started)
