"""Options of the Captum methods."""

from typing import Literal

from pydantic import Field

from attnx.plugin import Options, TargetUse

Baseline = Literal["zero", "mean"]


class OutputOptions(Options):
    """Options of `input-x-gradient`, shared by every method that explains an output."""

    of: Literal["probability", "logit"] = Field(
        "probability", description="what is explained: p of the class, or its logit"
    )
    absolute: bool = Field(False, description="use absolute values")

    @property
    def target_use(self) -> TargetUse:
        """Linear in p or in the logit, unless absolute values are taken."""
        return "read" if self.absolute else "linear"


class BaselineOptions(OutputOptions):
    """Options of `feature-ablation`, shared by every method with a baseline."""

    baseline: Baseline = Field(
        "zero", description="what replaces a unit: zeros, or the mean embedding of the example's units"
    )


class IntegratedGradientsOptions(BaselineOptions):
    """Options of `integrated-gradients`."""

    steps: int = Field(50, ge=1, description="number of points on the line (Gauss-Legendre quadrature)")


class GradientShapOptions(BaselineOptions):
    """Options of `gradient-shap`."""

    samples: int = Field(20, ge=1, description="random points per example, each with its own baseline")
    spread: float = Field(
        0.1,
        ge=0,
        description="noise of the baselines, relative to the root mean square of the example's embeddings",
    )
    seed: int = Field(0, ge=0, description="seed of the random points")


class DeepLiftOptions(Options):
    """Options of `deeplift`, which explains the logit."""

    baseline: Baseline = Field(
        "zero", description="what replaces a unit: zeros, or the mean embedding of the example's units"
    )
    absolute: bool = Field(False, description="use absolute values")

    @property
    def target_use(self) -> TargetUse:
        """Linear in the logit, unless absolute values are taken."""
        return "read" if self.absolute else "linear"


class SubsetOptions(BaselineOptions):
    """Options shared by the methods that draw subsets of units."""

    samples: int = Field(256, ge=2, description="subsets per example; at least two per unit")
    seed: int = Field(0, ge=0, description="seed of the random subsets")


class OrderOptions(BaselineOptions):
    """Options shared by the methods that add units in several orders."""

    orders: int = Field(16, ge=1, description="orders of the units per example")
    seed: int = Field(0, ge=0, description="seed of the random orders")


class ShapleyOptions(OrderOptions):
    """Options of `shapley-sampling`."""


class OwenOptions(OrderOptions):
    """Options of `owen`."""


class KernelShapOptions(SubsetOptions):
    """Options of `kernel-shap`."""


class LimeOptions(SubsetOptions):
    """Options of `lime`."""

    regression: Literal["ridge", "lasso", "linear"] = Field(
        "ridge", description="the linear model that is fitted"
    )
    penalty: float = Field(
        1.0, gt=0, description="strength of the ridge or lasso penalty (lasso with 1 sets most weights to 0)"
    )
    width: float = Field(
        0.25, gt=0, description="width in exp(−d²/2·width²), d the cosine distance to the full example"
    )

    @property
    def target_use(self) -> TargetUse:
        """Linear like the regression; the lasso is not, as it sets weights to 0."""
        return "read" if self.absolute or self.regression == "lasso" else "linear"
