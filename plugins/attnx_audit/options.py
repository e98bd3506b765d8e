"""Options of the planted tasks and of the explanations of known truth."""

from typing import Literal

from pydantic import Field

from attnx import Options


class PlantedOptions(Options):
    """How many texts there are, their seed, and whether their words decide anything."""

    train: int = Field(1000, ge=2, description="training texts")
    dev: int = Field(200, ge=2, description="texts for model selection")
    test: int = Field(300, ge=2, description="test texts")
    seed: int = Field(0, ge=0, description="seed of the data; the seeds of a run are for training")
    labels: Literal["true", "permuted"] = Field(
        "true",
        description="permuted: labels are dealt out anew within every split, so that no word decides them "
        "and there is no rationale",
    )

    @property
    def also_provides(self) -> tuple[str, ...]:
        return ("rationale",) if self.labels == "true" else ()


class PronounsOptions(PlantedOptions):
    """Options of `planted-pronouns`."""

    deciding: int = Field(3, ge=1, le=3, description="most deciding words in a text; the least is 1")


class DistractorsOptions(PlantedOptions):
    """Options of `planted-distractors`."""

    distractors: int = Field(2, ge=1, le=3, description="sentences about other things in a text")


class PartlyOracleOptions(Options):
    """Options of `partly-oracle`."""

    share: float = Field(0.5, ge=0, le=1, description="share of the deciding units that others replace")
    seed: int = Field(0, ge=0, description="another seed replaces others")
