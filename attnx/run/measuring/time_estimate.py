"""What measuring will take, said before it starts where that is long."""

from __future__ import annotations

import time

import numpy as np
import torch

from ...formulas.chunks import passes_at_once
from ...progress import Progress
from ...protocols import Model
from ..evaluation_mode import evaluating
from .attribution import trace_of
from .sample import Array, Measuring
from .splits import Split

LONG_TEXT = 5_000  # units: leaving out each of them is the square of that
LONG = 60.0  # seconds of one seed
ENOUGH = 10_000_000  # units through a model: fewer need no forecast, and no pass to time one


def announce_duration(
    measuring: Measuring, model: Model, split: Split, rows: Array | None, seeds: int, progress: Progress
) -> None:
    """Say in one line what goes through the model and about how long it takes, if that is long."""
    counts = split.unit_counts.numpy()
    whole = measuring.parted(dear=True).units_sent((counts if rows is None else counts[rows]).astype(float))
    sent = float(np.sum(whole))
    longest = int(counts.max(initial=0))
    if sent < ENOUGH:
        return
    seconds = sent / _units_per_second(model, split)
    if seconds < LONG and longest < LONG_TEXT:
        return
    each = f" for each of {seeds} seeds" if seeds > 1 else ""
    progress.say(
        f"measuring sends about {sent / 1e6:.0f} million units through the model{each}, at most "
        f"{_duration(seconds)} here; the longest example has {longest} units (--sample takes fewer)"
    )


def _units_per_second(model: Model, split: Split) -> float:
    """How many units one pass of some examples of middling length takes in a second."""
    order = split.lengths.argsort()[len(split) // 2 :]
    batch = split.take(order[: passes_at_once(int(split.lengths[order[0]]))][:16])
    with evaluating(model):
        trace_of(model, batch)  # the first one makes what later ones find
        started = time.perf_counter()
        trace_of(model, batch)
    return float(torch.count_nonzero(batch.mask)) / max(1e-6, time.perf_counter() - started)


def _duration(seconds: float) -> str:
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1, seconds):.0f} seconds"
