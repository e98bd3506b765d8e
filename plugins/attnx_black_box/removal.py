"""A text with some of its words, or with other words in their places."""

from __future__ import annotations

from collections.abc import Sequence

from attnx.plugin import Example


def text_of(example: Example, places: Sequence[int], words: Sequence[str] | None = None) -> str:
    """The text of an example with these places of its words alone, in their order.

    `words` are the words there, by default its own. All words in their own places give the text as it was
    written. The space before a word stays where the word before it does.
    """
    words = [example.units[place] for place in places] if words is None else words
    if example.text is None or example.starts is None:
        return " ".join(words)
    if len(places) == len(example.units) and tuple(words) == example.units:
        return example.text
    ends = [start + len(unit) for start, unit in zip(example.starts, example.units, strict=True)]
    parts: list[str] = []
    before = -1
    for place, word in zip(places, words, strict=True):
        if parts:
            parts.append(example.text[ends[before] : example.starts[place]] if before == place - 1 else " ")
        parts.append(word)
        before = place
    return "".join(parts)
