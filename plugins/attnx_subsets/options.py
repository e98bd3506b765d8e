"""Options of the metrics of subsets."""

from typing import Literal

from pydantic import Field

from attnx.plugin import Options


class SubsetOptions(Options):
    """Options of `faithfulness-correlation`."""

    subsets: int = Field(50, ge=3, le=1000, description="random subsets of units to delete")
    share: float = Field(20, gt=0, lt=100, description="share of units in a subset, in percent")


class InfidelityOptions(SubsetOptions):
    """Options of `infidelity`."""

    scale: Literal["positive", "any"] = Field(
        "positive",
        description="the factor between scores and changes: not below 0, or any number, as in the paper, "
        "which rates an explanation with all signs turned around the same",
    )
