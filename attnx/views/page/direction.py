"""Text in any direction: right-to-left text is isolated, so that it cannot reorder what surrounds it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ...escaping import printable

if TYPE_CHECKING:
    from markupsafe import Markup

# The blocks of Unicode that are written from right to left: Hebrew to Arabic Extended, presentation
# forms, and the two ranges that Unicode reserves for such scripts.
_RIGHT_TO_LEFT: Final = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_RUN: Final = re.compile(f"[{_RIGHT_TO_LEFT}]+(?:[^\\w<>]+[{_RIGHT_TO_LEFT}]+)*")
_LETTER: Final = re.compile(r"[^\W\d_]")


def is_right_to_left(words: Iterable[str]) -> bool:
    """Whether the first letter of these words belongs to a script that is written from right to left."""
    for word in words:
        if letter := _LETTER.search(word):
            return re.match(f"[{_RIGHT_TO_LEFT}]", letter[0]) is not None
    return False


def isolated(text: object) -> Markup:
    """A name, word or label that is not ours: one element with a direction of its own."""
    from markupsafe import Markup, escape

    return Markup("<bdi>{}</bdi>").format(escape(printable(str(text))))


def isolated_within(text: str) -> Markup:
    """A sentence of ours with every right-to-left passage in it isolated."""
    from markupsafe import Markup, escape

    shown = printable(text, lines=True)
    pieces, end = [], 0
    for run in _RUN.finditer(shown):
        pieces += [escape(shown[end : run.start()]), isolated(run[0])]
        end = run.end()
    return Markup("").join([*pieces, escape(shown[end:])])
