"""Options of the metrics that compare with what people marked."""

from pydantic import Field

from attnx.plugin import Options


class PlausibilityOptions(Options):
    """Options of `plausibility`."""

    fraction: float = Field(
        0.0, ge=0, le=1, description="share of units to choose; 0: as many as are marked in the example"
    )
    overlap: float = Field(
        0.5, ge=0.5, le=1, description="smallest intersection over union at which two spans match"
    )


class EraserOptions(Options):
    """Options of `eraser`."""

    fraction: float = Field(
        0.0, ge=0, le=1, description="share of units to choose; 0: the mean share that is marked in the split"
    )
    overlap: float = Field(
        0.5, ge=0.5, le=1, description="smallest intersection over union at which two spans match"
    )


class LocalisationOptions(Options):
    """Options of `localisation`."""

    fraction: float = Field(
        20 / 196, gt=0, le=1, description="share of the units in top-k and random-k; the paper's 20 of 196"
    )
