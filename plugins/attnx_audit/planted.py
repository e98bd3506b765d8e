"""Texts written before their label is known, and read as one label or the other.

A unit of such a text is a word, or a pair of words of which the label chooses one. Nothing else
depends on the label, so what is not marked as deciding is independent of it by construction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnx.plugin import Example, TaskData

from .options import PlantedOptions

SPLITS = ("train", "dev", "test")
SAMPLE = {"train": 24, "dev": 12, "test": 12}


@dataclass(frozen=True, slots=True)
class Unit:
    """A word, or two of which the label chooses one, and whether the label can be told without it."""

    words: tuple[str, str]
    deciding: bool = False

    @classmethod
    def plain(cls, word: str) -> Unit:
        return cls((word, word))


Text = tuple[Unit, ...]
Writer = Callable[[np.random.Generator], Text]


def make_texts(write: Writer, options: PlantedOptions, label_names: tuple[str, str]) -> TaskData:
    """All splits: as many texts of one label as of the other, give or take one."""
    seeds = np.random.SeedSequence(options.seed).spawn(len(SPLITS))
    train, dev, test = (
        _split(write, options, split, np.random.default_rng(seed))
        for split, seed in zip(SPLITS, seeds, strict=True)
    )
    said = "generated from sentence patterns"
    if options.labels == "permuted":
        said += ", labels permuted"
    return TaskData(train, dev, test, label_names=label_names, provenance={"source": said})


def _split(
    write: Writer, options: PlantedOptions, split: str, rng: np.random.Generator
) -> tuple[Example, ...]:
    count = getattr(options, split)
    readings = rng.permutation(np.arange(count) % 2).tolist()  # [N] what the words say
    permuted = rng.permutation(readings).tolist()
    labels = readings if options.labels == "true" else permuted
    return tuple(
        read_as(write(rng), reading, label, f"{split}-{i}", known=options.labels == "true")
        for i, (reading, label) in enumerate(zip(readings, labels, strict=True))
    )


def read_as(text: Text, reading: int, label: int, name: str, *, known: bool = True) -> Example:
    """The text with the words of one reading; its rationale where that reading is the label."""
    return Example(
        id=name,
        units=tuple(unit.words[reading] for unit in text),
        label=label,
        rationale=tuple(unit.deciding for unit in text) if known else None,
    )
