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

No step looks past white space once tags are gone, so each distinct piece is cut once and its words
are kept: most of the work for a corpus is looking pieces up.

`locate` gives the characters of the text that each word was made of, for models that read the text
as it is written.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Literal

from .options import TextOptions

Rule = Literal["words", "spaces"]
Digits = Literal["qqq", "keep"]
NUMBER = "qqq"
KEPT = 500_000  # distinct pieces; then all are forgotten, so that memory stays bounded

Spans = tuple[tuple[int, int], ...]  # [start, end) of characters

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_DIGIT = re.compile(r"\d")
_PIECE = re.compile(r"\S+")
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
        self._spans = _PieceSpans(rule, lowercase)

    def split(self, text: str) -> tuple[str, ...]:
        """The words of a text."""
        clean = _TAG.sub(" ", text) if self.rule == "words" else text
        return tuple(chain.from_iterable(map(self._pieces.__getitem__, clean.split())))

    def locate(self, text: str) -> Spans:
        """Where each word of `split` is in the text."""
        blank = _TAG.sub(lambda tag: " " * len(tag[0]), text) if self.rule == "words" else text
        return tuple(
            (piece.start() + start, piece.start() + end)
            for piece in _PIECE.finditer(blank)
            for start, end in self._spans[piece[0]]
        )

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
        if len(self) >= KEPT:
            self.clear()
        self[piece] = found = tuple(map(sys.intern, words))
        return found


class _PieceSpans(dict[str, Spans]):
    """Where the words of every piece seen so far are in it."""

    def __init__(self, rule: Rule, lowercase: bool) -> None:
        super().__init__()
        self.rule = rule
        self.lowercase = lowercase

    def __missing__(self, piece: str) -> Spans:
        if len(self) >= KEPT:
            self.clear()
        self[piece] = found = self._find(piece)
        return found

    def _find(self, piece: str) -> Spans:
        if self.rule == "spaces":
            return ((0, len(piece)),)
        clean = _clean(piece, self.lowercase)
        made_of = [
            span
            for span in _clusters(piece)
            for _ in range(len(_clean(piece[span[0] : span[1]], self.lowercase)))
        ]
        if len(made_of) != len(clean):  # characters that join across clusters
            made_of = [(0, len(piece))] * len(clean)
        return tuple((made_of[word.start()][0], made_of[word.end() - 1][1]) for word in _WORD.finditer(clean))


def _clusters(piece: str) -> Iterator[tuple[int, int]]:
    """Each character with the accents that follow it: what is resolved together."""
    start = 0
    for at in range(1, len(piece) + 1):
        if at == len(piece) or not unicodedata.combining(piece[at]):
            yield start, at
            start = at


def _clean(piece: str, lowercase: bool) -> str:
    plain = unicodedata.normalize("NFKC", piece).translate(_PLAIN)
    return plain.lower() if lowercase else plain


def _cut(rule: Rule, lowercase: bool) -> Callable[[str], list[str]]:
    def spaces(piece: str) -> list[str]:
        return [piece.lower() if lowercase else piece]

    def words(piece: str) -> list[str]:
        return _WORD.findall(_clean(piece, lowercase))

    return words if rule == "words" else spaces
