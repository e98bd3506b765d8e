"""Options of the baselines."""

from pydantic import Field

from attnx import Options


class RandomOptions(Options):
    """Options of `random`."""

    seed: int = Field(0, ge=0, description="another seed gives other scores")
