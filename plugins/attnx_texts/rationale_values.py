"""The marked words of a row, as a file gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnx.plugin import DataError

from .rows import Row


def read_rationale(row: Row, count: int, origin: str) -> tuple[bool, ...] | None:
    """One truth value for every word, from 0s and 1s or from [start, end) positions."""
    given: Any = row.rationale
    if given is None:
        return None
    where = f"'{origin}', line {row.line}: the rationale"
    if not isinstance(given, list):
        raise DataError(f"{where} must be a list of 0 and 1, or of [start, end) positions.")
    if given and all(isinstance(group, list) and all(map(_is_span, group)) for group in given):
        given = [span for group in given for span in group]  # spans in groups, as ERASER has them
    if all(isinstance(value, int) and value in (0, 1) for value in given) and given:
        if len(given) != count:
            raise DataError(
                f"{where} has {len(given)} values for {count} words; give one a word, and split words by "
                "spaces (tokenise=spaces) or give the text as a list."
            )
        return tuple(bool(value) for value in given)
    marked = np.zeros(count, dtype=bool)
    for span in given:
        if not _is_span(span):
            raise DataError(
                f"{where} must be a list of 0 and 1, or of [start, end) positions; it has {span!r}."
            )
        start, end = span
        if not 0 <= start < end <= count:
            raise DataError(f"{where} has [{start}, {end}], which is not within its {count} words.")
        marked[start:end] = True
    return tuple(marked.tolist())


def _is_span(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(place) is int for place in value)
