"""What removing and keeping more and more units does: of explanations, random orders and the best found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ..observations import SeedResult
from ..report import Curve
from .removal_test import QUESTIONS, removal_tests

if TYPE_CHECKING:
    from ...types import Order

RANDOM: Final = "random order"
BEST: Final = "best order found"


def removal_curves(results: Sequence[SeedResult]) -> list[Curve]:
    """The curves of the leading removal, for every seed; none where a test was not measured by size."""
    tests = removal_tests(results)
    if not tests:
        return []
    test = tests[0]
    first = next(iter(test.columns))
    lines: list[tuple[str, str, Order]] = [(name, name, "explanation") for name in test.columns]
    lines += [(RANDOM, first, "random"), (BEST, first, "search")]
    return [
        Curve(
            kind="removal",
            name=question,
            metric=test.removal,
            explanation=shown,
            reference=None,
            seed=result.seed,
            axis="share removed" if question == "comprehensiveness" else "share kept",
            x=tuple(by_size),
            y=tuple(float(np.nanmean(values[place])) for values in by_size.values()),
        )
        for place, result in enumerate(results)
        for question in QUESTIONS
        for shown, name, order in lines
        if (by_size := test.by_size(name, order, question))
    ]
