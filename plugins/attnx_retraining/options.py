"""Options of the retraining studies."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from attnx.plugin import Options

BelowOne = Annotated[float, Field(lt=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class AdversaryOptions(Options):
    """How the attention of an adversary is pushed away from that of a model."""

    distance: Literal["kl", "jsd"] = Field(
        "kl", description="divergence of attention: KL(adversary ‖ model), or Jensen–Shannon"
    )


class AdversarialModelOptions(AdversaryOptions):
    """Options of `adversarial-model`."""

    divergences: tuple[Positive, ...] = Field(
        (),
        description="values of λ, joined by +: the weight of a nat of attention divergence against total "
        "variation of outputs; none: 0.001, 0.01, 0.1, 1, and that of Wen et al. for this task and model",
    )
    moves: Literal["attention", "all"] = Field(
        "attention",
        description="what is trained in the frozen adversary: its attention parameters, or all parameters",
    )
    adversaries: tuple[Literal["frozen", "unfrozen"], ...] = Field(
        ("frozen", "unfrozen"), min_length=1, description="which adversaries are trained, joined by +"
    )
    information: bool = Field(False, description="also report τ of mi-kendall for model and adversaries")
    clusters: Annotated[int, Field(ge=2)] | Literal["paper"] = Field(50, description="clusters of mi-kendall")

    @field_validator("divergences")
    @classmethod
    def _distinct(cls, divergences: tuple[float, ...]) -> tuple[float, ...]:
        if len(set(divergences)) < len(divergences):
            raise ValueError("a value of λ is given twice")
        return divergences


class GuidedMlpOptions(AdversaryOptions):
    """Options of `guided-mlp`."""

    model: str = Field("mlp-add", description="the guided model; it should read each unit separately")
    divergence: Positive = Field(0.01, description="λ of the adversary that serves as a guide")


class InformationOptions(Options):
    """How τ between attention and information is measured."""

    clusters: Annotated[int, Field(ge=2)] | Literal["paper"] = Field(50, description="clusters of mi-kendall")


class FixedRepresentationOptions(InformationOptions):
    """Options of `fixed-representation`."""


class FixedAttentionOptions(InformationOptions):
    """Options of `fixed-attention`."""

    attention: Literal["untrained", "trained"] = Field(
        "untrained", description="whose attention is fixed: that of an untrained or of a trained model"
    )


class SparsitySweepOptions(Options):
    """Options of `sparsity-sweep`."""

    grid: tuple[BelowOne, ...] = Field(
        (-2.0, -0.5, 0.0, 0.3, 0.6, 0.9), description="values of λ of sparsegen below 1, joined by +"
    )
    references: tuple[str, ...] = Field(
        ("gradient",), min_length=1, description="importance methods, joined by +, e.g. gradient+loo"
    )
    correlation: Literal["kendall", "spearman", "pearson"] = Field(
        "kendall", description="correlation of λ with the results; the paper used Kendall's τ-b"
    )

    @field_validator("grid")
    @classmethod
    def _several(cls, grid: tuple[float, ...]) -> tuple[float, ...]:
        if len(grid) < 3 or len(set(grid)) < len(grid):
            raise ValueError("give three or more different values, joined by +")
        return grid


class GumbelGainOptions(InformationOptions):
    """Options of `gumbel-gain`."""

    models: tuple[str, ...] = Field(
        (), description="models to count, joined by +; none: the model of the study"
    )

    @field_validator("models")
    @classmethod
    def _distinct(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(models)) < len(models):
            raise ValueError("a model is given twice")
        return models

    temperature: float = Field(0.8, gt=0, allow_inf_nan=False, description="temperature of gumbel-softmax")
