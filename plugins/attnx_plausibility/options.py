"""Options of the tasks with human rationales and of the plausibility metric."""

from typing import Literal

from pydantic import Field

from attnx import Options

Agreement = Literal["majority", "any", "all"]


class RationaleOptions(Options):
    """Options of every task with human rationales."""

    max_length: int = Field(
        0, ge=0, description="most words of a text, the rest is cut off with its rationale; 0: any number"
    )
    lowercase: bool = Field(True, description="make all letters lower-case")


class AnnotatorOptions(RationaleOptions):
    """Options of a task in which several people marked the same text."""

    agreement: Agreement = Field(
        "majority",
        description="words are in the rationale when more than half, any or all of those who marked the "
        "text marked them",
    )


class HateXplainOptions(AnnotatorOptions):
    """Options of `hatexplain`; the evaluation of its authors is agreement=any."""


class EsnliOptions(AnnotatorOptions):
    """Options of `esnli`."""

    units: Literal["both", "premise", "hypothesis"] = Field(
        "both",
        description="what attention is spread over: both sentences in a row, or one of them with the other "
        "as the query",
    )


class PlausibilityOptions(Options):
    """Options of `plausibility`."""

    fraction: float = Field(
        0.0, ge=0, le=1, description="share of the units that is chosen; 0: as many as the rationale has"
    )
    overlap: float = Field(
        0.5, ge=0.5, le=1, description="smallest intersection over union of two spans that match"
    )


class LocalisationOptions(Options):
    """Options of `localisation`."""

    fraction: float = Field(
        20 / 196, gt=0, le=1, description="share of the units in top-k and random-k; the paper's 20 of 196"
    )
