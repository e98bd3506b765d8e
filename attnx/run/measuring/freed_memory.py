"""Memory that was freed, given back to the system.

The C library keeps what a method freed, in pieces that the passes of the next one do not fit, so that memory
would grow from method to method.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final

WORTH_IT: Final = 1.0  # seconds that the work took: giving back takes some hundredths


def give_back(after: float) -> None:
    """Give freed memory back after work of so many seconds, if that is long and the C library can."""
    trim = _trim()
    if after >= WORTH_IT and trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    """The function of glibc; None with another library."""
    try:
        return getattr(ctypes.CDLL(None), "malloc_trim", None)
    except (OSError, TypeError):  # Windows has no such library
        return None
