"""Contestants timed in turns, and a row of the table they make."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """One piece of work, done by us and by a peer."""

    work: str
    ours: float  # seconds
    peer: float
    target: float  # of peer / ours
    equal: bool | None  # whether both computed the same; None where the peer is a limit

    @property
    def ratio(self) -> float:
        return self.peer / self.ours


@dataclass(frozen=True, slots=True)
class Timed(Generic[T]):
    """The fastest of several runs."""

    seconds: float
    result: T


def best_of(repeats: int, runs: Mapping[str, Callable[[], T]], in_a_row: int = 1) -> dict[str, Timed[T]]:
    """The fastest run of each contestant, taken in turns so that a busy moment hits all alike.

    Work of a millisecond is run several times in a row, or it is the caches that are measured.
    """
    best: dict[str, Timed[T]] = {}
    for _ in range(repeats):
        for name, run in runs.items():
            for _ in range(in_a_row):
                start = time.perf_counter()
                result = run()
                seconds = time.perf_counter() - start
                if name not in best or seconds < best[name].seconds:
                    best[name] = Timed(seconds, result)
    return best
