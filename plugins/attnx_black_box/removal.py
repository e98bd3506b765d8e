"""A text with some of its words."""

from __future__ import annotations

from collections.abc import Sequence

from attnx.plugin import Example


def text_of(example: Example, words: Sequence[int]) -> str:
    """The text of an example with these of its words alone, in their order.

    All words give the text as it was written. The space before a word stays where the word before it does.
    """
    if example.text is None or example.starts is None:
        return " ".join(example.units[word] for word in words)
    if len(words) == len(example.units):
        return example.text
    ends = [start + len(unit) for start, unit in zip(example.starts, example.units, strict=True)]
    parts: list[str] = []
    before = -1
    for word in words:
        if parts:
            parts.append(example.text[ends[before] : example.starts[word]] if before == word - 1 else " ")
        parts.append(example.units[word])
        before = word
    return "".join(parts)
