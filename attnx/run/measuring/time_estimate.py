"""An estimate of how long measuring will take, shown beforehand if that is long."""

from __future__ import annotations

import time

import numpy as np
import torch

from ...formulas.chunks import passes_at_once
from ...progress import Progress
from ...protocols import Model
from ...request.plan import Tests
from ...results.formatting import duration
from ..evaluation_mode import evaluating
from .attribution import Named, trace_of
from .sample import Array, part_of, units_sent
from .splits import Split

LONG_TEXT = 5_000  # units: leave-one-out costs the square of that
LONG = 60.0  # seconds of one seed
ENOUGH = (
    50_000  # units through a model: fewer take no minute anywhere, and need no pass to base an estimate on
)


def announce_duration(
    tests: Tests[Named], model: Model, split: Split, rows: Array | None, seeds: int, progress: Progress
) -> None:
    """Show in one line how much goes through the model and how long that takes, if it is long."""
    counts = split.unit_counts.numpy()
    sampled = (counts if rows is None else counts[rows]).astype(float)
    sent = float(np.sum(units_sent(part_of(tests, expensive=True), sampled)))
    longest = int(counts.max(initial=0))
    if sent < ENOUGH:
        return
    seconds = sent / _units_per_second(model, split)
    if seconds < LONG and longest < LONG_TEXT:
        return
    each = f" for each of {seeds} seeds" if seeds > 1 else ""
    progress.say(
        f"measuring sends about {sent / 1e6:.0f} million units through the model{each}, at most "
        f"{duration(max(1.0, seconds))} here; the longest example has {longest} units (see --sample)"
    )


def _units_per_second(model: Model, split: Split) -> float:
    """Time one pass of some examples of medium length."""
    order = split.lengths.argsort()[len(split) // 2 :]
    batch = split.take(order[: passes_at_once(int(split.lengths[order[0]]))][:16])
    with evaluating(model):
        trace_of(model, batch)  # the first pass fills caches
        started = time.perf_counter()
        trace_of(model, batch)
    return float(torch.count_nonzero(batch.mask)) / max(1e-6, time.perf_counter() - started)
