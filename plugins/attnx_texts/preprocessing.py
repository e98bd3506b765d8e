"""How a text becomes words.

The rule `words`, close to what spaCy and the Penn Treebank do in English:

1. HTML tags become spaces, and the text is split at white space into pieces.
2. In each piece Unicode compatibility forms are resolved (NFKC), curly quotes become straight ones,
   invisible format characters disappear, and letters become lower-case.
3. A piece is cut, left to right, into the first of these that fits:
   "n't" at the end of a word, and the letters before it ("don't" is do + n't);
   's 'm 'd 're 've 'll; a number with what is attached to it ("1,000.50", "21st");
   a run of letters and digits; two or more dots or hyphens; any other single character.
4. A word with a digit in it becomes `qqq`, unless digits are kept.

The rule `spaces` is for text that is split already: cut at white space, then 2 (lower-case alone)
and 4. One piece is one word, so positions counted in `text.split()` stay true.

No step looks past white space once tags are gone, so each distinct piece is cut once and then
data_cache: most of the work for a corpus is looking pieces up.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Literal

from .options import TextOptions

Rule = Literal["words", "spaces"]
Digits = Literal["qqq", "keep"]
NUMBER = "qqq"
REMEMBERED = 500_000  # distinct pieces; then it starts anew, so that memory stays bounded

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(
    r"n't\b|[^\W\d_]+?(?=n't\b)"  # don't: do n't
    r"|'(?:s|m|d|re|ve|ll)\b"
    r"|\d+(?:[.,]\d+)*[^\W_]*"
    r"|[^\W_]+"
    r"|\.{2,}|-{2,}"
    r"|\S"
)
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_PLAIN = str.maketrans("‘’‛“”„", "'''\"\"\"", _INVISIBLE)


class WordSplitter:
    """Cuts texts into words by one rule; equal words are one object."""

    def __init__(self, rule: Rule, *, digits: Digits = "qqq", lowercase: bool = True) -> None:
        self.rule = rule
        self._pieces = _Pieces(_cut(rule, lowercase), digits)
        self._words = _Pieces(_cut("spaces", lowercase), digits)

    def split(self, text: str) -> tuple[str, ...]:
        """The words of a text."""
        clean = _TAG.sub(" ", text) if self.rule == "words" else text
        return tuple(chain.from_iterable(map(self._pieces.__getitem__, clean.split())))

    def take(self, words: Iterable[str]) -> tuple[str, ...]:
        """Words that were split elsewhere, one for one."""
        return tuple(chain.from_iterable(map(self._words.__getitem__, words)))


def splitter_of(options: TextOptions, tokenised: bool) -> WordSplitter:
    """What cuts texts as a task's options say; those that are tokenised are cut at spaces alone."""
    rule = options.tokenise if options.tokenise != "auto" else "spaces" if tokenised else "words"
    return WordSplitter(rule, digits=options.digits, lowercase=options.lowercase)


class _Pieces(dict[str, tuple[str, ...]]):
    """The words of every piece seen so far."""

    def __init__(self, cut: Callable[[str], list[str]], digits: Digits) -> None:
        super().__init__()
        self.cut = cut
        self.digits = digits

    def __missing__(self, piece: str) -> tuple[str, ...]:
        words = self.cut(piece)
        if self.digits == "qqq":
            words = [NUMBER if _DIGIT.search(word) else word for word in words]
        if len(self) >= REMEMBERED:
            self.clear()
        self[piece] = found = tuple(map(sys.intern, words))
        return found


def _cut(rule: Rule, lowercase: bool) -> Callable[[str], list[str]]:
    def spaces(piece: str) -> list[str]:
        return [piece.lower() if lowercase else piece]

    def words(piece: str) -> list[str]:
        clean = unicodedata.normalize("NFKC", piece).translate(_PLAIN)
        return _WORD.findall(clean.lower() if lowercase else clean)

    return words if rule == "words" else spaces
