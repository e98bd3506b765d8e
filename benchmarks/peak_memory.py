"""The most memory that a piece of work takes, as Linux counts it."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

RESET = Path("/proc/self/clear_refs")  # there on Linux alone


def peak(run: Callable[[], T]) -> tuple[float, T]:
    """MB that the process had at most in addition to what it had before, and the result."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed would be used again, and not be counted
    RESET.write_text("5", encoding="ascii")  # the peak is what there is now
    before = peak_so_far()
    result = run()
    return peak_so_far() - before, result


def peak_so_far() -> float:
    """MB of this process; what `resource` says may be the peak of the process that started it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6
