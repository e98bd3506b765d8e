"""Words between stars: how e-SNLI marks them, and how the samples here are written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from attnx.plugin import TaskData

from .options import RationaleOptions
from .passages import SPLITS, Account, Marks, Passage, make_data

SIZES = {"train": 12, "dev": 3, "test": 4}  # texts a label
FRAMES = (
    "we saw it in the morning and it was {} , rather {} at the end",
    "the first page is {} but the last one is {} once more",
    "nobody in the room said {} until she called it {} twice",
    "my neighbour wrote {} and underlined {} with a green pen",
)
SAMPLE = {"source": "a sample of made-up texts"}
_WORD = re.compile(r"\w+(?:[^\w\s]+\w+)*|[^\w\s]")  # T-shirt and don't are words, marks around them are not


def read_stars(text: str) -> tuple[tuple[str, ...], Marks]:
    """The words of a text, split at white space, and which of them stand between stars."""
    pieces = [piece for piece in text.split() if piece != "**"]
    marks = tuple(len(piece) > 2 and piece[0] == piece[-1] == "*" for piece in pieces)
    return tuple(p[1:-1] if marked else p for p, marked in zip(pieces, marks, strict=True)), marks


def cut_punctuation(words: Sequence[str], marks: Sequence[bool]) -> tuple[tuple[str, ...], Marks]:
    """The same words with the punctuation around them as words of its own, which are never marked.

    People marked words together with the punctuation that hung on them.
    """
    cut = [
        (part, marked and part[0].isalnum())
        for word, marked in zip(words, marks, strict=True)
        for part in _WORD.findall(word)
    ]
    return tuple(part for part, _ in cut), tuple(marked for _, marked in cut)


def make_sample(evidence: Mapping[str, Sequence[str]], options: RationaleOptions) -> TaskData:
    """A few short texts for every label, with its words of evidence marked; the same at every call."""
    rng = np.random.default_rng(0)
    splits: dict[str, list[Passage]] = {split: [] for split in SPLITS}
    for split in SPLITS:
        for label, words in enumerate(evidence.values()):
            for number in range(SIZES[split]):
                planted = [f"*{word}*" for word in rng.choice(list(words), size=2)]
                text, marks = read_stars(str(rng.choice(FRAMES)).format(*planted))
                splits[split].append(Passage(f"{split}-{label}-{number}", text, label, marks))
    return make_data(splits, tuple(evidence), options, SAMPLE, Account())
