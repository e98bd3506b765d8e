"""Options of the gradient methods."""

from typing import Literal

from pydantic import Field

from attnx.plugin import Options


class GradientOptions(Options):
    """Options of `gradient`, and of `gradient-hidden`, where h_i takes the place of the embedding."""

    of: Literal["probability", "logit", "loss"] = Field(
        "probability", description="what is differentiated: p of the class, its logit, or −log p"
    )
    reduce: Literal["l2", "l1", "dot-embedding-abs", "signed"] = Field(
        "l2",
        description="one number of a gradient: its norm, |gradient·embedding|, or gradient·embedding signed",
    )
    attention: Literal["flowing", "fixed"] = Field(
        "flowing", description="whether attention follows the embeddings or is held at its weights"
    )
    normalise: bool = Field(True, description="divide by the sum of absolute values over units")

    @property
    def also_needs(self) -> tuple[str, ...]:
        return ("reattend",) if self.attention == "fixed" else ()


class AttentionGradientOptions(Options):
    """Options of `attention-gradient` and `attention-x-gradient`."""

    of: Literal["probability", "logit", "loss"] = Field(
        "probability", description="what is differentiated: p of the class, its logit, or −log p"
    )
