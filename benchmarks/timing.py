"""Contestants timed in turns, and a row of the table they make."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
LONG = 12.0  # seconds of all contestants together, after which none is run again


@dataclass(frozen=True, slots=True)
class Row:
    """One piece of work, done by us and by a peer."""

    work: str
    ours: float  # seconds, or in another unit
    peer: float
    target: float  # of peer / ours
    equal: bool | None  # whether both computed the same; None where the peer is a limit
    limit: float | None = None  # seconds of the matrix products that the work cannot do without
    unit: str = "s"  # of ours and peer; MB for memory

    @property
    def ratio(self) -> float:
        return self.peer / self.ours

    @property
    def met(self) -> bool:
        return self.ratio >= self.target


@dataclass(frozen=True, slots=True)
class Timed(Generic[T]):
    """The fastest of several runs."""

    seconds: float
    result: T


def best_of(repeats: int, runs: Mapping[str, Callable[[], T]], in_a_row: int = 1) -> dict[str, Timed[T]]:
    """The fastest run of each contestant, taken in turns so that a busy moment hits all alike.

    Seconds are those of the processor, so that other programs on the machine count little. Work of a
    millisecond is run several times in a row, or it is the caches that are measured. What takes long is
    repeated less often.
    """
    best: dict[str, Timed[T]] = {}
    started = time.process_time()
    for _ in range(repeats):
        for name, run in runs.items():
            for _ in range(in_a_row):
                start = time.process_time()
                result = run()
                seconds = time.process_time() - start
                if name not in best or seconds < best[name].seconds:
                    best[name] = Timed(seconds, result)
        if time.process_time() - started > LONG:
            break
    return best


def seconds_of(operations: float) -> float:
    """Seconds that so many floating-point operations take in matrix products of a convenient size."""
    import torch

    a, b = torch.randn(512, 512), torch.randn(512, 512)
    best = best_of(30, {"product": lambda: torch.mm(a, b)})
    return operations / (2.0 * 512**3) * best["product"].seconds
