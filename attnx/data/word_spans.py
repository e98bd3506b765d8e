"""Where the words of a text are in it."""

from __future__ import annotations

from collections.abc import Iterable

Spans = tuple[tuple[int, int], ...]


def find_in_order(words: Iterable[str], text: str) -> Spans:
    """Find words in a text, one after the other.

    Upper and lower case are taken as equal if that keeps the length of the text.

    Args:
        words: the words, in the order of the text.
        text: the text.

    Returns:
        The place of the first character of each word and that after its last; empty if one is not found.
    """
    lowered = text.lower()
    folded = len(lowered) == len(text)
    spans, end = [], 0
    for word in words:
        start = text.find(word, end)
        if folded:  # the nearer of the two, or a later word in capitals would be skipped
            near = lowered.find(word.lower(), end)
            start = near if near >= 0 and len(word.lower()) == len(word) else start
        if start < 0:
            return ()
        end = start + len(word)
        spans.append((start, end))
    return tuple(spans)


def join_words(words: Iterable[str]) -> tuple[str, tuple[int, ...]]:
    """Join words to one text, with a space between them.

    Args:
        words: the words.

    Returns:
        The text, and the place of the first character of each word.
    """
    starts, at, words = [], 0, tuple(words)
    for word in words:
        starts.append(at)
        at += len(word) + 1
    return " ".join(words), tuple(starts)
