"""Memory that was freed: kept while a model trains, given back to the system where it would only pile up.

glibc, the C library of most Linux systems, maps a large tensor every time and unmaps it when it is
freed, so that a training step on long texts fetches and clears the same memory again, a quarter of its
time. Methods of importance differ in their sizes: what one freed does not fit the next.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

WORTH_IT: Final = 1.0  # seconds that the work took: giving back takes some hundredths
TRIM_THRESHOLD, MMAP_THRESHOLD, MMAP_MAX = -1, -3, -4  # as in malloc.h
MB: Final = 1 << 20


def give_back(after: float) -> None:
    """Give freed memory back after work of so many seconds, if that is long and the C library can."""
    if after >= WORTH_IT and _glibc():
        _glibc().malloc_trim(0)


@contextmanager
def keeping() -> Iterator[None]:
    """Keep what is freed for what is needed next, and give it back in the end."""
    if not _glibc():
        yield
        return
    _glibc().mallopt(MMAP_MAX, 0)
    _glibc().mallopt(TRIM_THRESHOLD, 2048 * MB - 1)
    try:
        yield
    finally:  # the thresholds that glibc itself arrives at when it frees large blocks
        _glibc().mallopt(MMAP_MAX, 65536)
        _glibc().mallopt(MMAP_THRESHOLD, 32 * MB)
        _glibc().mallopt(TRIM_THRESHOLD, 64 * MB)
        _glibc().malloc_trim(0)


@cache
def _glibc() -> Any:
    """The library with its functions; None with another library."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows has no such library
        return None
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None
