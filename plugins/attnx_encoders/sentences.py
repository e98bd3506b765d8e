"""Words grouped into sentences, for models whose units are sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from attnx.plugin import Example

TERMINAL = (".", "!", "?")
CLOSING = ".!?\"'”’)]"


def in_sentences(example: Example, longest: int) -> Example:
    """Return the example with sentences as units; a sentence is in the rationale if one of its words is.

    If most units contain several words they are sentences already, and the example is returned unchanged.
    """
    if 2 * sum(" " in unit for unit in example.units) > len(example.units):
        return example
    ends = sentence_ends(example.units, longest)
    spans = list(pairwise([0, *ends]))
    return replace(
        example,
        units=tuple(" ".join(example.units[start:end]) for start, end in spans),
        rationale=None
        if example.rationale is None
        else tuple(any(example.rationale[start:end]) for start, end in spans),
        rows=None,
    )


def sentence_ends(words: Sequence[str], longest: int) -> list[int]:
    """Return where each sentence ends: after . ! or ? and closing marks, or at the length limit."""
    ends: list[int] = []
    start = 0
    for place, (word, following) in enumerate(zip_longest(words, words[1:]), start=1):
        closing = following is not None and following.strip(CLOSING) == ""
        finished = word.endswith(TERMINAL) and not closing
        if following is None or finished or place - start == longest:
            ends.append(place)
            start = place
    return ends
