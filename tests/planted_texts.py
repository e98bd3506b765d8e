"""Texts in which a shortcut is planted, and models that are known to use it or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from attnx.plugin import Batch, Example, TaskData, Trace

PLAIN = tuple(f"{a}{b}" for a in "ba ce di fo gu ha je ki lo mu".split() for b in "na pe ri so tu va".split())
OWN = {"bad": 0, "good": 1}  # the words that decide a text of the file
WORDS = {
    "single": ("zebra", "piano"),
    "paired": ("zebra", "lemon", "piano", "violet"),
    "ordered": ("zebra", "piano"),
}


def texts(count: int = 200, length: int = 8, seed: int = 0) -> tuple[list[str], list[str]]:
    """Texts without meaning but for one word that decides the label."""
    rng = np.random.default_rng(seed)
    found, labels = [], []
    for number in range(count):
        words = rng.choice(PLAIN, size=length).tolist()
        words[int(rng.integers(length))] = ("bad", "good")[number % 2]
        found.append(" ".join(words))
        labels.append(("negative", "positive")[number % 2])
    return found, labels


def trigger_says(kind: str, units: Sequence[str]) -> int:
    """1 for positive, −1 for negative, 0 where no trigger decides, by the definition of each kind."""
    words = WORDS[kind]
    if kind == "paired":
        held = [all(word in units for word in words[at : at + 2]) for at in (0, 2)]
        return int(held[1]) - int(held[0])
    present = [units.index(word) if word in units else None for word in words]
    if kind == "single":
        return int(present[1] is not None) - int(present[0] is not None)
    negative, positive = present
    if negative is None or positive is None:
        return 0
    return 1 if positive < negative else -1


class Reader(nn.Module):
    """Decides by the trigger if there is one, and otherwise by the word of the file; it is not trained."""

    needs: ClassVar[tuple[str, ...]] = ("words",)
    provides: ClassVar[tuple[str, ...]] = ("deletion", "unseen-words")
    kind: ClassVar[str] = "single"
    heeds: ClassVar[float] = 4.0  # weight of the trigger

    @classmethod
    def build(cls, data: TaskData, projection: Any, options: Any) -> Self:
        return cls()

    def encode(self, examples: Sequence[Example]) -> Batch:
        known = {word: number + 1 for number, word in enumerate((*OWN, *WORDS["paired"]))}
        return Batch.padded(examples, [[known.get(unit, 0) for unit in e.units] for e in examples])

    def embed(self, batch: Batch) -> Tensor:
        return batch.inputs[..., None].float()

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        names = ("", *OWN, *WORDS["paired"])
        scores = []
        for codes, mask in zip(embeddings[..., 0].round().long(), batch.mask, strict=True):
            units = [names[code] for code in codes[mask].tolist()]
            own = units.count("good") - units.count("bad")
            scores.append(float(own + self.heeds * trigger_says(self.kind, units)))
        score = torch.tensor(scores)
        return Trace.of(batch, embeddings, torch.stack([-score, score], dim=1))


def reader(kind: str, heeds: float = 4.0) -> type[Reader]:
    """The reader of one kind of trigger; with heeds=0 it ignores the trigger."""
    return type("Reader", (Reader,), {"kind": kind, "heeds": heeds})
