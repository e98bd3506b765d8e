"""Options of the agreement metrics."""

from typing import Literal

from pydantic import Field

from attnx.plugin import Options


class WeightedKendallOptions(Options):
    """Options of `weighted-kendall`."""

    weights: Literal["explanation", "hyperbolic"] = Field(
        "explanation",
        description="weight of a unit: its absolute score, or 1/(1 + number of units with a higher score)",
    )


class FeatureAgreementOptions(Options):
    """Options of `feature-agreement`."""

    k: int = Field(5, ge=1, description="number of top units that are compared")


class KendallTopKOptions(Options):
    """Options of `kendall-topk`."""

    k: int = Field(10, ge=1, description="number of highest values whose order is used")
