"""Options of the projections."""

from typing import Self

from pydantic import Field, model_validator

from attnx.plugin import Options


class SoftmaxOptions(Options):
    """Options of `softmax`."""

    temperature: float = Field(
        1.0, gt=0, allow_inf_nan=False, description="scores are divided by it; lower is sharper"
    )


class SparsegenOptions(Options):
    """Options of `sparsegen`."""

    lam: float = Field(
        0.0,
        lt=1,
        allow_inf_nan=False,
        description="λ: 0 is sparsemax, close to 1 one-hot, far below 0 uniform",
    )


class EntmaxOptions(Options):
    """Options of `entmax`."""

    alpha: float = Field(1.5, ge=1, allow_inf_nan=False, description="1 is softmax, 2 is sparsemax")
    learned: bool = Field(False, description="learn alpha with the model, starting from the value given")

    @model_validator(mode="after")
    def _can_move(self) -> Self:
        if self.learned and self.alpha == 1:
            raise ValueError("a learned alpha must start above 1")
        return self


class GumbelSoftmaxOptions(Options):
    """Options of `gumbel-softmax`."""

    temperature: float = Field(
        0.8, gt=0, allow_inf_nan=False, description="scores and noise are divided by it; lower is sharper"
    )
    draws: int = Field(
        0, ge=0, description="number of noise draws to average over in evaluation; 0: no noise"
    )
