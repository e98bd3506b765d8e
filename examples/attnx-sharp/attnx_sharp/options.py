"""Options of the plugin; no torch here, so that `attnx info` answers at once."""

from pydantic import Field

from attnx.plugin import Options


class PowerOptions(Options):
    """Options of `power`."""

    exponent: float = Field(2.0, gt=0, description="above 1 sharpens, below 1 flattens")
