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
    signed: bool | None = Field(
        None,
        description="keep the sign: above 0 if the class is less probable without the unit; by default for "
        "of=target",
    )
    normalise: bool = Field(True, description="divide by the sum of absolute values over units")
    window: int = Field(
        1,
        ge=1,
        description="neighbouring units that are deleted together; each gets the mean over its windows",
    )

    @model_validator(mode="after")
    def _deleted_windows(self) -> Self:
        if self.window > 1 and self.variant != "delete":
            raise ValueError("window needs variant=delete")
        return self

    @model_validator(mode="after")
    def _one_class(self) -> Self:
        if self.signed and self.of == "average":
            raise ValueError("signed=true needs of=target: the signed changes of all classes sum to 0")
        return self

    @property
    def also_needs(self) -> tuple[str, ...]:
        return ("backgrounds",) if self.variant == "background" else ()

    @property
    def has_signs(self) -> bool:
        """Whether scores keep their sign, where that was not said."""
        return self.of == "target" if self.signed is None else self.signed

    @property
    def target_use(self) -> TargetUse:
        """Linear in p with the sign alone; without it a size, or the mean over all classes."""
        if self.of == "average":
            return "ignored"
        return "linear" if self.has_signs and not self.normalise else "read"


class ContextCiteOptions(Options):
    """Options of `context-cite`."""

    samples: int = Field(64, ge=2, description="random halves of the units per example")
    penalty: float = Field(0.01, gt=0, description="strength of the lasso penalty, on standardised presences")
    seed: int = Field(0, ge=0, description="seed of the random halves")


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


RemovalName = Literal["delete", "replace"]  # as in attnx.plugin, which imports torch
Share = Annotated[float, Field(gt=0, le=100)]
Bins = Annotated[tuple[Share, ...], Field(min_length=1), AfterValidator(_rising)]


def _delete_first(removals: tuple[RemovalName, ...]) -> tuple[RemovalName, ...]:
    if removals not in (("delete",), ("delete", "replace")):
        raise ValueError("give delete, or delete+replace")
    return removals


Removals = Annotated[tuple[RemovalName, ...], AfterValidator(_delete_first)]


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


class DeletionOptions(Options):
    """Options of `abpc` and `naopc`."""

    bins: Bins = Field((1, 5, 10, 20, 50), description="shares of units in percent, joined by +")


class FaithfulnessOptions(Options):
    """Options of `faithfulness`."""

    bins: Bins = Field(
        (1, 5, 10, 20, 50), description="shares of units in percent that are removed or kept, joined by +"
    )
    removals: Removals = Field(
        ("delete", "replace"), description="how units are removed, joined by +: delete, or delete+replace"
    )
    draws: int = Field(2, ge=1, le=20, description="random replacements to average over")
    orders: int = Field(4, ge=2, le=50, description="random orders to average over")
