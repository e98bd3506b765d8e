"""Options of the gradient methods."""

from typing import Literal

from pydantic import Field

from attnx.plugin import Options, TargetUse


class GradientOptions(Options):
    """Options of `gradient`, and of `gradient-hidden`, which uses h_i instead of the embedding."""

    of: Literal["probability", "logit", "loss"] = Field(
        "probability", description="what is differentiated: p of the class, its logit, or −log p"
    )
    reduce: Literal["l2", "l1", "dot-embedding-abs", "signed"] = Field(
        "l2",
        description="how a gradient becomes a number: norm, |gradient·embedding|, or gradient·embedding",
    )
    attention: Literal["flowing", "fixed"] = Field(
        "flowing", description="whether the gradient passes through attention or attention is constant"
    )
    normalise: bool = Field(True, description="divide by the sum of absolute values over units")

    @property
    def also_needs(self) -> tuple[str, ...]:
        return ("reattend",) if self.attention == "fixed" else ()

    @property
    def target_use(self) -> TargetUse:
        """Linear in p or in the logit, unless sizes are taken or divided by their sum."""
        return "linear" if self.reduce == "signed" and not self.normalise and self.of != "loss" else "read"


class SmoothGradOptions(GradientOptions):
    """Options of `smoothgrad`: those of `gradient`, and the noise."""

    samples: int = Field(20, ge=1, description="noisy copies of the embeddings per example")
    noise: float = Field(
        0.1,
        ge=0,
        description="standard deviation of the noise, relative to the root mean square of the embeddings",
    )
    seed: int = Field(0, ge=0, description="seed of the noise")


class AttentionGradientOptions(Options):
    """Options of `attention-gradient` and `attention-x-gradient`."""

    of: Literal["probability", "logit", "loss"] = Field(
        "probability", description="what is differentiated: p of the class, its logit, or −log p"
    )

    @property
    def target_use(self) -> TargetUse:
        """Linear in p or in the logit."""
        return "linear" if self.of != "loss" else "read"
