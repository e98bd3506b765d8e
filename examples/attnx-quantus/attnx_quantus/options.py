"""Options; no torch here, so that `attnx info` answers at once."""

from typing import Literal

from pydantic import Field

from attnx.plugin import Options

Name = Literal["Sparseness", "Complexity", "EffectiveComplexity"]


class QuantusOptions(Options):
    """Options of `quantus-complexity`."""

    metric: Name = Field("Sparseness", description="the metric of Quantus, by the name of its class")
