"""Options of the test of unlikely inputs."""

from typing import Annotated

from pydantic import Field

from attnx.plugin import Options

Share = Annotated[float, Field(gt=0, lt=100)]


class InDistributionOptions(Options):
    """Options of `in-distribution`."""

    bins: Annotated[tuple[Share, ...], Field(min_length=1)] = Field(
        (1, 5, 10, 20, 50), description="shares of units in percent, joined by +, as in comprehensiveness"
    )
    level: float = Field(
        0.05, gt=0, lt=1, description="p-value at or below which an input counts as unlikely"
    )
