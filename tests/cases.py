"""How many cases a test tried, for docs/reliability.md."""

from __future__ import annotations

_tried = 0


def count_cases(number: int = 1) -> None:
    """Add to the cases of the test that runs."""
    global _tried
    _tried += number


def take_cases() -> int:
    """How many were counted since the last call."""
    global _tried
    taken, _tried = _tried, 0
    return taken
