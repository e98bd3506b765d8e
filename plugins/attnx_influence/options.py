"""Options of the influence methods."""

from typing import Literal

from pydantic import Field

from attnx.plugin import Options


class InfluenceOptions(Options):
    """Options of `influence`."""

    weight: Literal["uniform", "attention"] = Field(
        "uniform", description="weight of each hidden state: equal, or its attention"
    )

    @property
    def also_needs(self) -> tuple[str, ...]:
        return ("attention",) if self.weight == "attention" else ()
