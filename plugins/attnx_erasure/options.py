"""Options of the erasure methods."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from attnx.plugin import Options, TargetUse

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
    signed: bool = Field(
        False, description="keep the sign: above 0 if the class is less probable without the unit"
    )
    normalise: bool = Field(True, description="divide by the sum of absolute values over units")

    @model_validator(mode="after")
    def _one_class(self) -> Self:
        if self.signed and self.of == "average":
            raise ValueError("signed=true needs of=target: the signed changes of all classes sum to 0")
        return self

    @property
    def also_needs(self) -> tuple[str, ...]:
        return ("backgrounds",) if self.variant == "background" else ()

    @property
    def target_use(self) -> TargetUse:
        """Linear in p with the sign alone; without it a size, or the mean over all classes."""
        if self.of == "average":
            return "ignored"
        return "linear" if self.signed and not self.normalise else "read"


class HiddenLeaveOneOutOptions(Options):
    """Options of `loo-hidden`."""

    of: Literal["target", "average"] = Field(
        "target", description="change in probability of the explained class, or averaged over all classes"
    )
    normalise: bool = Field(True, description="divide by the sum over units")

    @property
    def target_use(self) -> TargetUse:
        """A size of the change of one class, or of all."""
        return "ignored" if self.of == "average" else "read"


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
        "delete", description="delete units, or replace them by random background units"
    )
    draws: Draws = 8

    @property
    def also_needs(self) -> tuple[str, ...]:
        return ("backgrounds",) if self.variant == "background" else ()
