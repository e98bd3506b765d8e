"""Texts that are written before their label is known and can have either label.

A unit of such a text is a word, or a pair of words of which the label chooses one. Nothing else depends
on the label, so what is not marked as deciding is independent of it by construction.
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
    """A word, or two of which the label chooses one, and whether it decides the label."""

    words: tuple[str, str]
    deciding: bool = False

    @classmethod
    def plain(cls, word: str) -> Unit:
        return cls((word, word))


Text = tuple[Unit, ...]
Writer = Callable[[np.random.Generator], Text]


def make_texts(write: Writer, options: PlantedOptions, label_names: tuple[str, str]) -> TaskData:
    """Return all splits, with equally many texts of both labels (up to one)."""
    seeds = np.random.SeedSequence(options.seed).spawn(len(SPLITS))
    train, dev, test = (
        _split(write, options, split, np.random.default_rng(seed))
        for split, seed in zip(SPLITS, seeds, strict=True)
    )
    source = "generated from sentence patterns"
    if options.labels == "permuted":
        source += ", labels permuted"
    return TaskData(train, dev, test, label_names=label_names, provenance={"source": source})


def _split(
    write: Writer, options: PlantedOptions, split: str, rng: np.random.Generator
) -> tuple[Example, ...]:
    count = getattr(options, split)
    readings = rng.permutation(np.arange(count) % 2).tolist()  # [N] the label that the words indicate
    permuted = rng.permutation(readings).tolist()
    labels = readings if options.labels == "true" else permuted
    return tuple(
        read_as(write(rng), reading, label, f"{split}-{i}", known=options.labels == "true")
        for i, (reading, label) in enumerate(zip(readings, labels, strict=True))
    )


def read_as(text: Text, reading: int, label: int, name: str, *, known: bool = True) -> Example:
    """Return the text with the words of one label; with a rationale if that is the example's label."""
    return Example(
        id=name,
        units=tuple(unit.words[reading] for unit in text),
        label=label,
        rationale=tuple(unit.deciding for unit in text) if known else None,
    )
