"""Sentiment trees in brackets, as the Stanford Sentiment Treebank gives them: a tree a line."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from attnx.plugin import DataError, read_lines

from ..rows import Row, RowStream

# A leaf is "(2 word)"; the sentence's own label follows the first bracket.
_LEAF = re.compile(r"\([0-4] ([^()\s]+)\)")
_ROOT = re.compile(r"\(([0-4]) ")
NEUTRAL = 2
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def read_trees(path: Path) -> RowStream:
    """Rows of the sentences that are not neutral, labelled negative (0, 1) or positive (3, 4)."""
    with closing(read_lines(path)) as lines:
        for number, line in enumerate(lines, start=1):
            tree = line.strip()
            if not tree:
                continue
            root, words = _ROOT.match(tree), _LEAF.findall(tree)
            if root is None or not words or tree.count("(") != tree.count(")"):
                raise DataError(f"'{path}', line {number}: not a tree such as '(3 (2 a) (4 film))'.")
            sentiment = int(root[1])
            if sentiment != NEUTRAL:
                label = "positive" if sentiment > NEUTRAL else "negative"
                yield Row(number - 1, number, tuple(map(_plain, words)), label)


def _plain(word: str) -> str:
    """The word without the treebank's escapes."""
    return _BRACKETS.get(word, word).replace("\\/", "/").replace("\\*", "*")
