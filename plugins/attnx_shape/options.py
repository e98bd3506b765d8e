"""Options of the shape metrics."""

from typing import Literal

from pydantic import Field

from attnx.plugin import Options


class NnzOptions(Options):
    """Options of `nnz`."""

    threshold: float = Field(0.01, ge=0, lt=1, description="a unit counts if its share is above this value")
    fraction: bool = Field(False, description="divide the count by the number of units")


class MassOptions(Options):
    """Options of `mass`."""

    mass: float = Field(0.8, gt=0, le=1, description="share of the total that the units must hold")


class EntropyOptions(Options):
    """Options of `entropy`."""

    unit: Literal["nats", "bits"] = Field("nats", description="unit of the entropy")
