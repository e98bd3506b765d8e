"""What a reader learns about attention from all the results together, in plain English with their numbers."""

from __future__ import annotations

from .results import Stored


def lessons(stored: Stored) -> list[str]:
    """The sections of the summary."""
    return []
