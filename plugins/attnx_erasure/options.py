"""Options of the erasure methods."""

from typing import Literal

from pydantic import Field

from attnx import Options


class LeaveOneOutOptions(Options):
    """Options of `loo`."""

    variant: Literal["delete", "mask"] = Field(
        "delete", description="shorten the example, or put a baseline in the place of the unit's embedding"
    )
    baseline: Literal["zero", "mean"] = Field(
        "zero", description="with variant=mask: zeros, or the mean embedding of the example's units"
    )
    of: Literal["target", "average"] = Field(
        "target", description="change in probability of the explained class, or averaged over all classes"
    )
    normalise: bool = Field(True, description="divide by the sum over units")
