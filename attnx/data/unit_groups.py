"""Units of a text that are larger than words: sentences and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from ..types import Example
from .word_spans import join_words

UnitsOfText = Literal["words", "sentences", "paragraphs"]
TERMINAL = (".", "!", "?", "…", "。", "！", "？")
CLOSING = ".!?…\"'”’)]»"
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


def group_units(example: Example, units: UnitsOfText) -> Example:
    """Group the words of an example into sentences or paragraphs.

    A sentence ends after . ! ? or … and the closing marks that follow, and at a blank line; a paragraph ends
    at a blank line. A group is in the rationale if one of its words is.

    Args:
        example: an example whose units are words.
        units: what its units shall be.

    Returns:
        The example with groups of words as units, each with all characters between its first and last word.
    """
    if units == "words" or not example.units:
        return example
    text, starts = (
        (example.text, example.starts)
        if example.text is not None and example.starts is not None
        else join_words(example.units)
    )
    ends = [start + len(unit) for start, unit in zip(starts, example.units, strict=True)]
    groups = list(pairwise([0, *_boundaries(example.units, text, starts, ends, units), len(starts)]))
    marks = example.rationale
    return replace(
        example,
        units=tuple(text[starts[first] : ends[last - 1]] for first, last in groups),
        rationale=None if marks is None else tuple(any(marks[first:last]) for first, last in groups),
        text=text,
        starts=tuple(starts[first] for first, _ in groups),
        query_text=example.query_text
        if example.query is None
        else example.query_text or " ".join(example.query),
    )


def _boundaries(
    words: tuple[str, ...], text: str, starts: tuple[int, ...], ends: list[int], units: UnitsOfText
) -> Iterator[int]:
    """The words that begin a group, except for the first."""
    for at in range(1, len(words)):
        blank = _BLANK_LINE.search(text, ends[at - 1], starts[at]) is not None
        stop = words[at - 1].rstrip(CLOSING + "”") == "" or words[at - 1].rstrip("\"'”’)]»").endswith(
            TERMINAL
        )
        ended = units == "sentences" and stop and _closes(words[:at]) and words[at].strip(CLOSING) != ""
        if blank or ended:
            yield at


def _closes(words: tuple[str, ...]) -> bool:
    """Whether a sentence ends after these words: the last that is more than a closing mark ends it."""
    for word in reversed(words):
        bare = word.rstrip("\"'”’)]»")
        if bare:
            return bare.endswith(TERMINAL)
    return False
