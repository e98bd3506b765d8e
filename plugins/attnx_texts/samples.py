"""Small labelled corpora made of our own words, for tests and trials without any file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnx.plugin import Example, TaskData

SIZES = {"train": 12, "dev": 3, "test": 4}  # texts a label
COLOURS = "red green blue white black grey pink brown violet orange yellow purple".split()
FRAMES = (
    "we read the note about {} and {} in the morning",
    "the first page says {} but the last one says {} once more",
    "nobody in the room spoke of {} until she mentioned {} twice",
    "after {} came {} and then a short walk to the station",
    "my neighbour wrote {} and underlined {} with a green pen",
    "it was {} from the start , and rather {} at the end",
)
# Words that give a label away; a label that is not here is given away by the words of its own name.
EVIDENCE = {
    "negative": "dull clumsy tedious hollow stale".split(),
    "positive": "vivid graceful gripping tender witty".split(),
    "1 star": "broken rude filthy".split(),
    "2 stars": "slow bland noisy".split(),
    "3 stars": "plain usual fair".split(),
    "4 stars": "tasty kind tidy".split(),
    "5 stars": "superb flawless wonderful".split(),
    "adverse reaction": "rash dizzy nausea headache".split(),
    "no adverse reaction": "refill pharmacy box price".split(),
    "diabetes": "insulin glucose metformin".split(),
    "no diabetes": "fracture suture ankle".split(),
    "acute": "bleeding transfusion sudden".split(),
    "chronic": "longstanding iron fatigue".split(),
    "rec.sport.baseball": "inning pitcher bat".split(),
    "rec.sport.hockey": "puck goalie ice".split(),
    "World": "treaty minister border".split(),
    "Business": "shares profit merger".split(),
}


def make_sample(label_names: Sequence[str]) -> TaskData:
    """A few short texts for every label, the same at every call; the words that decide are marked."""
    rng = np.random.default_rng(0)
    train, dev, test = (
        tuple(
            _sentence(rng, f"{split}-{label * size + i:06d}", label, label_names[label])
            for label in range(len(label_names))
            for i in range(size)
        )
        for split, size in SIZES.items()
    )
    said = {"source": "a sample of made-up texts"}
    return TaskData(train, dev, test, label_names=tuple(label_names), provenance=said)


def make_pairs(label_names: Sequence[str], pairs: Sequence[tuple[str, str]]) -> TaskData:
    """A few pairs of sentences for every label, the first to attend to, the second as the query."""
    train, dev, test = (
        tuple(
            Example(
                id=f"{split}-{label}-{number}",
                units=tuple(first.format(COLOURS[number]).split()),
                label=label,
                query=tuple(second.split()),
            )
            for label, (first, second) in enumerate(pairs)
            for number in range(size)
        )
        for split, size in SIZES.items()
    )
    said = {"source": "a sample of made-up pairs"}
    return TaskData(train, dev, test, label_names=tuple(label_names), provenance=said)


def _sentence(rng: np.random.Generator, name: str, label: int, label_name: str) -> Example:
    words = EVIDENCE.get(label_name) or label_name.lower().replace(".", " ").split()
    text = str(rng.choice(FRAMES)).format(rng.choice(words), rng.choice(words))
    units = tuple(text.split())
    return Example(id=name, units=units, label=label, rationale=tuple(unit in words for unit in units))
