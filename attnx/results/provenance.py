"""What a run was computed with and on."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """What a report is made of: frozen, and nothing in it that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PluginUsed(Record):
    """A plugin that took part, by its exact code."""

    plugin: str
    distribution: str
    version: str
    code: str  # hash of its source files


class Provenance(Record):
    """What the run was computed with."""

    plugins: tuple[PluginUsed, ...]
    data: dict[str, str]
    weights: dict[int, str]  # hash of the trained weights, by seed
    weights_folders: dict[int, str]  # by seed: their folder among the weights that are kept, where they are


class SampleUsed(Record):
    """The examples of the test split on which the dear tests were run."""

    examples: int
    of: int  # the test split
    seed: int  # of the draw, which is the same for every seed of training
    metrics: tuple[str, ...]  # that were measured on it
