"""Options of soft erasure."""

from typing import Annotated

from pydantic import Field

from attnx.plugin import Options

Share = Annotated[float, Field(gt=0, lt=100)]


class SoftErasureOptions(Options):
    """Options of `soft-sufficiency` and `soft-comprehensiveness`."""

    retained: Annotated[tuple[Share, ...], Field(min_length=1)] = Field(
        (10, 20, 50),
        description="shares of all coordinates that the scores give out, in percent, joined by +",
    )
    draws: int = Field(4, ge=1, le=100, description="random masks to average over")
