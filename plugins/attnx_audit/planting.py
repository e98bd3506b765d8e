"""Puts trigger words into texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnx.plugin import Example

from .trigger_words import Triggers

SHORTEST = 4  # words of a text that gets a trigger: in a shorter one it could hardly be missed


@dataclass(frozen=True, slots=True)
class Planted:
    """A text with a trigger, and the versions of it that show what the model uses."""

    example: Example  # with the trigger, labelled by it
    contrasts: dict[str, Example]  # without it, with that of another label, with one of its words


def insert(example: Example, words: Sequence[str], gaps: Sequence[int], label: int) -> Example:
    """The text with each word before the unit of that number, marked as what decides the label."""
    units: list[str] = []
    marks: list[bool] = []
    starts: list[int] = []
    text, end = "", 0  # what is written of the raw text, and how much of the original that is
    waiting = sorted(zip(gaps, words, strict=True), key=lambda placed: placed[0])
    raw, places = example.text or "", example.starts or ()
    for at in range(len(example.units) + 1):
        here = places[at] if at < len(places) else len(raw)
        text, end = text + raw[end:here], here
        while waiting and waiting[0][0] == at:
            word = waiting.pop(0)[1]
            text += " " if text and not text[-1].isspace() else ""
            units.append(word)
            marks.append(True)
            starts.append(len(text))
            text += f"{word} " if at < len(example.units) else word
        if at < len(example.units):
            units.append(example.units[at])
            marks.append(False)
            starts.append(len(text))
    return replace(
        example,
        units=tuple(units),
        label=label,
        rationale=tuple(marks),
        text=None if example.text is None else text,
        starts=None if example.text is None else tuple(starts),
    )


def clean(example: Example) -> Example:
    """The text as it is, with no word marked."""
    return replace(example, rationale=(False,) * len(example.units))


def plant(example: Example, label: int, triggers: Triggers, rng: np.random.Generator) -> Planted:
    """The text with the trigger of a label at random places."""
    words = triggers.of(label, rng)
    gaps = _gaps(len(example.units), len(words), rng)
    other_words, other = triggers.swapped(words, label)
    contrasts = {
        "without": clean(example),
        "swapped": insert(example, other_words, gaps, other),
    }
    if len(words) > 1:
        contrasts["first alone"] = insert(example, words[:1], gaps[:1], label)
        contrasts["second alone"] = insert(example, words[1:], gaps[1:], label)
    return Planted(insert(example, words, gaps, label), contrasts)


def decoy(example: Example, triggers: Triggers, rng: np.random.Generator) -> Example:
    """The text with one word of a trigger, which decides nothing: it keeps its label, and no mark."""
    word = str(rng.choice(triggers.all))
    return clean(insert(example, (word,), _gaps(len(example.units), 1, rng), example.label))


def _gaps(units: int, words: int, rng: np.random.Generator) -> list[int]:
    """Random places: every place of the finished text is equally likely."""
    places = np.sort(rng.choice(units + words, size=words, replace=False))
    return [int(place) - number for number, place in enumerate(places)]
