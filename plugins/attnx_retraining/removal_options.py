"""Options of the studies that train models on shortened examples."""

from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from attnx.plugin import Options

Share = Annotated[float, Field(gt=0, lt=100)]
Probability = Annotated[float, Field(gt=0, lt=1)]


class RemovalOptions(Options):
    """Which explanations a study compares; random scores are always added."""

    explanations: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        ("attention", "gradient", "loo"), description="importance methods to compare, joined by +"
    )

    @field_validator("explanations")
    @classmethod
    def _distinct(cls, explanations: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(explanations)) < len(explanations):
            raise ValueError("an importance method is given twice")
        return explanations

    @property
    def compared(self) -> tuple[str, ...]:
        """The explanations, and random scores."""
        return tuple(dict.fromkeys((*self.explanations, "random")))


class FFidelityOptions(RemovalOptions):
    """Options of `f-fidelity`."""

    shares: Annotated[tuple[Share, ...], Field(min_length=1)] = Field(
        (10, 30, 50), description="shares of units that count as the top, in percent, joined by +"
    )
    alpha: Probability = Field(0.5, description="highest probability with which a unit is removed")
    beta: Probability = Field(0.1, description="highest share of units that is removed, as in fine-tuning")
    draws: int = Field(50, ge=1, le=1000, description="random removals to average over")


class RecursiveRoarOptions(RemovalOptions):
    """Options of `recursive-roar`."""

    share: Share = Field(10, description="share of the original units that each step removes, in percent")
    steps: int = Field(5, ge=1, le=50, description="steps, each with a model trained from scratch")

    @model_validator(mode="after")
    def _some_left(self) -> Self:
        if self.share * self.steps >= 100:
            raise ValueError(
                f"{self.steps} steps of {self.share:g} % leave nothing: take fewer or smaller ones"
            )
        return self
