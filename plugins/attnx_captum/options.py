"""Options of the Captum methods."""

from typing import Literal

from pydantic import Field

from attnx.plugin import Options

Baseline = Literal["zero", "mean"]


class OutputOptions(Options):
    """Options of `input-x-gradient`, and of every method that explains an output."""

    of: Literal["probability", "logit"] = Field(
        "probability", description="what is explained: p of the class, or its logit"
    )
    absolute: bool = Field(False, description="drop the sign of the values")


class BaselineOptions(OutputOptions):
    """Options of `feature-ablation`, and of every method that compares with a baseline."""

    baseline: Baseline = Field(
        "zero", description="in place of a unit: zeros, or the mean embedding of the example's units"
    )


class IntegratedGradientsOptions(BaselineOptions):
    """Options of `integrated-gradients`."""

    steps: int = Field(50, ge=1, description="points on the line, by Gauss-Legendre quadrature")


class GradientShapOptions(BaselineOptions):
    """Options of `gradient-shap`."""

    samples: int = Field(20, ge=1, description="random points of an example, each with its own baseline")
    spread: float = Field(
        0.1,
        ge=0,
        description="noise of the baselines, in units of the root mean square of the example's embeddings",
    )
    seed: int = Field(0, ge=0, description="another seed draws other points")


class DeepLiftOptions(Options):
    """Options of `deeplift`, which explains the logit."""

    baseline: Baseline = Field(
        "zero", description="in place of a unit: zeros, or the mean embedding of the example's units"
    )
    absolute: bool = Field(False, description="drop the sign of the values")


class SubsetOptions(BaselineOptions):
    """What the methods that draw subsets of units have in common."""

    samples: int = Field(256, ge=2, description="subsets of an example, or more: two for every unit")
    seed: int = Field(0, ge=0, description="another seed draws other subsets")


class KernelShapOptions(SubsetOptions):
    """Options of `kernel-shap`."""


class LimeOptions(SubsetOptions):
    """Options of `lime`."""

    regression: Literal["ridge", "lasso", "linear"] = Field(
        "ridge", description="the linear model that is fitted"
    )
    penalty: float = Field(
        1.0, gt=0, description="weight of the penalty of ridge or lasso (of which 1 leaves little)"
    )
    width: float = Field(
        0.25, gt=0, description="of the kernel exp(−d²/2·width²), d the cosine distance to the whole example"
    )
