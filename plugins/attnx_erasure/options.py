"""Options of the erasure methods."""

from typing import Annotated, Literal

from attnx.plugin import Options
from pydantic import AfterValidator, Field

Draws = Annotated[
    int, Field(ge=1, description="backgrounds drawn for each unit, over which probabilities are averaged")
]


class LeaveOneOutOptions(Options):
    """Options of `loo`."""

    variant: Literal["delete", "mask", "background"] = Field(
        "delete",
        description="shorten the example, put a baseline in the place of the unit's embedding, or put drawn "
        "background units in its place, one after the other",
    )
    baseline: Literal["zero", "mean"] = Field(
        "zero", description="with variant=mask: zeros, or the mean embedding of the example's units"
    )
    draws: Draws = 8
    of: Literal["target", "average"] = Field(
        "target", description="change in probability of the explained class, or averaged over all classes"
    )
    normalise: bool = Field(True, description="divide by the sum over units")

    @property
    def also_needs(self) -> tuple[str, ...]:
        return ("backgrounds",) if self.variant == "background" else ()


class HiddenLeaveOneOutOptions(Options):
    """Options of `loo-hidden`."""

    of: Literal["target", "average"] = Field(
        "target", description="change in probability of the explained class, or averaged over all classes"
    )
    normalise: bool = Field(True, description="divide by the sum over units")


def _rising(bins: tuple[float, ...]) -> tuple[float, ...]:
    if list(bins) != sorted(set(bins)):
        raise ValueError("give each share once, the smallest first")
    return bins


Share = Annotated[float, Field(gt=0, le=100)]
Bins = Annotated[tuple[Share, ...], Field(min_length=1), AfterValidator(_rising)]


class ErasureCurveOptions(Options):
    """Options of `comprehensiveness` and `sufficiency`."""

    bins: Bins = Field(
        (1, 5, 10, 20, 50), description="shares of the units that are taken, in percent, joined by +"
    )
    variant: Literal["delete", "background"] = Field(
        "delete", description="shorten the example, or put drawn background units in the place of the others"
    )
    draws: Draws = 8

    @property
    def also_needs(self) -> tuple[str, ...]:
        return ("backgrounds",) if self.variant == "background" else ()
