"""A story with a question, and the example it becomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from attnx.plugin import Example, UnitsOfText, group_units

STOP = "."  # a separate unit at the end of a sentence, never in the rationale


@dataclass(frozen=True, slots=True)
class StoryQuestion:
    """A question about the sentences before it."""

    id: str
    sentences: tuple[tuple[str, ...], ...]  # words, without the full stop
    question: tuple[str, ...]
    answer: str
    supporting: frozenset[int]  # positions of the sentences that the answer follows from


def to_example(asked: StoryQuestion, answers: Sequence[str], kind: UnitsOfText = "words") -> Example:
    """Words or sentences of the story as units, the question as query, supporting sentences marked."""
    units: list[str] = []
    marks: list[bool] = []
    for position, words in enumerate(asked.sentences):
        units += [*words, STOP]
        marks += [position in asked.supporting] * len(words) + [False]
    example = Example(
        id=asked.id,
        units=tuple(units),
        label=answers.index(asked.answer),
        query=asked.question,
        rationale=tuple(marks) if any(marks) else None,
    )
    return group_units(example, kind)


def units_of(text: str) -> tuple[str, ...]:
    """Return the words of a given story or question; a full stop is a unit, question marks are dropped."""
    return tuple(re.findall(r"[^\s.?]+|\.", text))
