"""What a run was computed with and on."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen part of a result; it accepts no field that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PluginUsed(Record):
    """A plugin that took part, by its exact code."""

    plugin: str
    distribution: str
    version: str
    code: str  # hash of its source files


class ComponentUsed(Record):
    """An importance method or a metric of a run, by the label that its rows have."""

    kind: Literal["importance", "metric"]
    label: str
    name: str  # of the component, without options


class Provenance(Record):
    """What the run was computed with."""

    plugins: tuple[PluginUsed, ...]
    data: dict[str, str]
    weights: dict[int, str]  # hash of the trained weights, by seed
    weights_folders: dict[int, str]  # by seed: the folder of the stored weights, if they are stored


class SampleUsed(Record):
    """The examples of the test split on which the expensive metrics were measured."""

    examples: int
    of: int  # the test split
    seed: int  # of the draw, which is the same for every seed of training
    metrics: tuple[str, ...]  # that were measured on it
