"""Options of the agreement metrics."""

from typing import Literal

from attnx.plugin import Options
from pydantic import Field


class WeightedKendallOptions(Options):
    """Options of `weighted-kendall`."""

    weights: Literal["explanation", "hyperbolic"] = Field(
        "explanation",
        description="weight of a unit: its absolute importance, or 1/(1 + number of units explained higher)",
    )


class KendallTopKOptions(Options):
    """Options of `kendall-topk`."""

    k: int = Field(10, ge=1, description="how many of the largest values keep their order")
