"""Whether two ways of removing units say the same about an explanation."""

from __future__ import annotations

from .grades import side_of
from .records import RemovalShare


def opposite(one: RemovalShare, other: RemovalShare) -> bool:
    """Whether two removals put an explanation beyond noise on different sides of random, or one on none."""
    sides = {_side(one), _side(other)}
    return len(sides) > 1 and not overlap(one, other)


def overlap(one: RemovalShare, other: RemovalShare) -> bool:
    """Whether the intervals of two removals have something in common."""
    ends = (one.low, one.high, other.low, other.high)
    if any(end is None for end in ends):
        return False
    low, high, other_low, other_high = (float(end or 0.0) for end in ends)
    return low <= other_high and other_low <= high


def _side(found: RemovalShare) -> int:
    if found.share is None or found.low is None or found.high is None:
        return 0
    return side_of(found.share) if found.low > 0 or found.high < 0 else 0
