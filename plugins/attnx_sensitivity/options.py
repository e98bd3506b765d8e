"""Options of the metrics that explain again."""

from pydantic import Field

from attnx.plugin import Options


class MaxSensitivityOptions(Options):
    """Options of `max-sensitivity`."""

    radius: float = Field(0.02, gt=0, description="largest change of a coordinate of an embedding")
    draws: int = Field(10, ge=1, le=1000, description="changed inputs")


class ParameterRandomisationOptions(Options):
    """Options of `parameter-randomisation`."""

    bins: int = Field(0, ge=0, description="bins of the histogram; 0: ⌈log₂ n⌉ + 1 for n units (Sturges)")
    draws: int = Field(5, ge=1, le=1000, description="noisy inputs that the smoothed form averages over")
    noise: float = Field(
        0.1,
        ge=0,
        description="standard deviation of their noise, relative to the root mean square of the embeddings",
    )
