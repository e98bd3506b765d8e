"""From a share with its interval to a grade."""

from __future__ import annotations

from typing import Final

from .records import Grade
from .shares import Share, texts_needed

NEAR: Final = 0.05  # a share this close to 0 is no better than random in practice
NEARLY: Final = 0.02  # of the way from random to best: less is no reason to pay for more passes
WEAK: Final = 0.25
PARTIAL: Final = 0.5
GOOD: Final = 0.75


def grade_of(share: Share) -> Grade:
    """The grade of a share; unknown where its interval reaches from random to more than weak."""
    if not share.known:
        return "unknown"
    if share.high < 0 and share.value <= -NEAR:
        return "misleading"
    if share.low <= 0 or abs(share.value) < NEAR:
        undecided = share.low <= 0 and (share.high >= WEAK or share.low <= -WEAK)
        return "unknown" if undecided else "random"
    if share.value < WEAK:
        return "weak"
    if share.value < PARTIAL:
        return "partial"
    return "good" if share.value < GOOD else "strong"


def needed_for(share: Share) -> int | None:
    """About how many texts would decide: the interval leaves 0 out, or stays within what is weak."""
    return texts_needed(share, (abs(share.value), WEAK - abs(share.value)))


def side_of(share: float) -> int:
    """1 above random, −1 below, 0 about random."""
    return 0 if abs(share) < NEAR else 1 if share > 0 else -1
