"""Options of the erasure methods."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from attnx.plugin import Options

Draws = Annotated[int, Field(ge=1, description="random background units to average over")]


class LeaveOneOutOptions(Options):
    """Options of `loo`."""

    variant: Literal["delete", "mask", "background"] = Field(
        "delete",
        description="how a unit is left out: shorten the example, replace the unit's embedding by a "
        "baseline, or replace the unit by random background units",
    )
    baseline: Literal["zero", "mean"] = Field(
        "zero", description="for variant=mask: zeros, or the mean embedding of the example's units"
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
        raise ValueError("give each share once, in ascending order")
    return bins


Share = Annotated[float, Field(gt=0, le=100)]
Bins = Annotated[tuple[Share, ...], Field(min_length=1), AfterValidator(_rising)]


class ErasureCurveOptions(Options):
    """Options of `comprehensiveness` and `sufficiency`."""

    bins: Bins = Field((1, 5, 10, 20, 50), description="shares of units in percent, joined by +")
    variant: Literal["delete", "background"] = Field(
        "delete", description="shorten the example, or replace the other units by random background units"
    )
    draws: Draws = 8

    @property
    def also_needs(self) -> tuple[str, ...]:
        return ("backgrounds",) if self.variant == "background" else ()
