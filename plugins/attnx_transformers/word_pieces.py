"""Texts in the pieces of a tokenizer, a column of a batch for every word.

A text is tokenised once and as a whole, exactly as `transformers.pipeline` does it: the raw text where
the task has it, else its words joined by spaces. Every piece then goes to the word it shares the most
characters with. White space that is a piece by itself goes to the word after it. Pieces of no word
(special pieces, markup, a query, the words of a template) are columns without a unit. A word that got
no piece, because the tokenizer drops it or joins it with its neighbour, has no column and no score.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from attnx.plugin import Batch, DataError, Example, UsageError, join_words

from .checkpoints import quiet
from .language.prompts import Prompt

NONE = -1  # no piece, or no unit
KEPT = 50_000  # texts whose pieces are kept: every pass over a split asks for them again

Array = np.ndarray[Any, np.dtype[np.int32]]


class Piece(NamedTuple):
    """One piece of a row."""

    id: int
    kind: int  # token type
    start: int  # [start, end) in the text of the example; both -1 for what is not of the text
    end: int


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of one text."""

    ids: Array  # [P] pieces
    column: Array  # [P] that each is in
    slot: Array  # [P] its place in the column
    kind: Array  # [L] token type
    unit: Array  # [L] the unit, or -1


class WordPieces:
    """A tokenizer that gives the pieces of a text word by word."""

    def __init__(self, tokenizer: Any, limit: int, prompt: Prompt | None = None) -> None:
        if not tokenizer.is_fast:
            raise UsageError(
                f"{type(tokenizer).__name__} cannot say which characters a piece is made of, so pieces "
                "cannot be matched with words: save the checkpoint with a fast tokenizer (tokenizer.json)."
            )
        self.tokenizer = tokenizer
        self.limit = limit  # pieces of a whole row
        self.prompt = prompt  # around the text; none: the text by itself
        self.ending: tuple[int, ...] = ()  # pieces after every prompt
        self._kept: dict[Hashable, Columns] = {}

    def followed_by(self, pieces: tuple[int, ...]) -> WordPieces:
        """The same with some pieces more after every prompt."""
        other = WordPieces(self.tokenizer, self.limit, self.prompt)
        other.ending = (*self.ending, *pieces)
        return other

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Examples as a batch."""
        keys = [_key(example) for example in examples]
        asked = dict(zip(keys, examples, strict=True))
        new = [(key, example) for key, example in asked.items() if key not in self._kept]
        if len(self._kept) + len(new) > KEPT:
            self._kept.clear()
            new = list(asked.items())
        rows = self._rows([example for _, example in new])
        self._kept |= {key: self._columns(e, row) for (key, e), row in zip(new, rows, strict=True)}
        return collate(examples, [self._kept[key] for key in keys])

    def _rows(self, examples: Sequence[Example]) -> list[list[Piece]]:
        if not examples:
            return []
        with quiet():
            return self._texts(examples) if self.prompt is None else self._prompts(self.prompt, examples)

    def answer(self, words: str) -> tuple[int, ...]:
        """The pieces of an answer after the end of the prompt, and after a space where it has none."""
        try:
            words.encode()
        except UnicodeEncodeError as error:
            raise UsageError(
                "An answer holds half a character (a lone surrogate); write all of it."
            ) from error
        before = (self.prompt.ending if self.prompt is not None else "") or "a"
        between = "" if before[-1].isspace() else " "
        whole = f"{before}{between}{words}"
        made = self.tokenizer(whole, add_special_tokens=False, return_offsets_mapping=True)
        found = zip(made["input_ids"], made["offset_mapping"], strict=True)
        pieces = tuple(piece for piece, (_, end) in found if end > len(before))
        if not pieces:
            raise UsageError(f"The tokenizer has no piece for '{words}': give others with labels=WORD+WORD.")
        return pieces

    def _texts(self, examples: Sequence[Example]) -> list[list[Piece]]:
        """Rows as the tokenizer makes them of texts, or of texts and queries; cut where they are too long."""
        texts = [raw_text(example)[0] for example in examples]
        queries = [_query(example) for example in examples if example.query is not None]
        pairs = (texts, queries) if len(queries) == len(texts) and texts else (texts,)
        made = self.tokenizer(*pairs, truncation=True, max_length=self.limit, return_offsets_mapping=True)
        return [_pieces(made, row) for row in range(len(texts))]

    def _prompts(self, prompt: Prompt, examples: Sequence[Example]) -> list[list[Piece]]:
        """Rows of prompts; what is too long is cut at the end of the text inside."""
        rows = []
        for example in examples:
            text, _ = raw_text(example)
            whole, begins = prompt.whole(text, _query(example))
            made = self.tokenizer([whole], add_special_tokens=prompt.marks, return_offsets_mapping=True)
            row = [_within(piece, begins, len(text)) for piece in _pieces(made, 0)]
            row += [Piece(id_, 0, NONE, NONE) for id_ in self.ending]
            inside = [at for at, piece in enumerate(row) if piece.start >= 0]
            cut = set(inside[len(inside) - max(0, len(row) - self.limit) :]) if inside else set()
            rows.append([piece for at, piece in enumerate(row) if at not in cut])
        return rows

    def _columns(self, example: Example, row: Sequence[Piece]) -> Columns:
        text, starts = raw_text(example)
        empty = not any(piece.start >= 0 for piece in row)
        if len(row) > self.limit or (empty and len(row) == self.limit):
            raise DataError(
                f"Example '{example.id}' leaves no space for its text: what is read with it takes all "
                f"{self.limit} pieces that the model reads."
            )
        spans = [(start, start + len(unit)) for start, unit in zip(starts, example.units, strict=True)]
        words = words_of(row, spans, text)
        units: list[int] = []
        kinds, column, slot = list[int](), list[int](), list[int]()
        for piece, word in zip(row, words, strict=True):
            if units and word != NONE and units[-1] == word:
                slot.append(slot[-1] + 1)
            else:
                units.append(word)
                kinds.append(piece.kind)
                slot.append(0)
            column.append(len(units) - 1)
        if all(unit == NONE for unit in units):  # the tokenizer drops all of the text: one empty word
            units.append(0)
            kinds.append(0)
        ids = [piece.id for piece in row]
        return Columns(*(np.array(found, dtype=np.int32) for found in (ids, column, slot, kinds, units)))


def _key(example: Example) -> Hashable:
    """All that the columns of an example depend on."""
    if example.text is None:
        return example.units, example.query
    return example.text, example.starts, example.units, example.query_text


def raw_text(example: Example) -> tuple[str, tuple[int, ...]]:
    """The text of an example, and where each unit begins in it."""
    if example.text is not None and example.starts is not None:
        return example.text, example.starts
    return join_words(example.units)


def words_of(row: Sequence[Piece], spans: Sequence[tuple[int, int]], text: str) -> list[int]:
    """The word that each piece belongs to, of words at these spans of a text; -1 for none."""
    found: list[int] = []
    first = 0  # of the words that may still get a piece
    for piece in row:
        while first < len(spans) and spans[first][1] <= piece.start:
            first += 1
        best, most = NONE, 0
        for word in range(first, len(spans) if piece.start >= 0 else 0):
            start, end = spans[word]
            if start >= piece.end:
                break
            shared = min(end, piece.end) - max(start, piece.start)
            if shared > most:
                best, most = word, shared
        found.append(best)
    for at in range(len(row) - 2, -1, -1):  # white space goes to the word after it
        if found[at] == NONE and row[at].start >= 0 and not text[row[at].start : row[at].end].strip():
            found[at] = found[at + 1]
    return found


def _pieces(made: Any, row: int) -> list[Piece]:
    """The pieces of one row of what a tokenizer made; only those of the first text have characters."""
    ids = made["input_ids"][row]
    kinds = made["token_type_ids"][row] if "token_type_ids" in made else [0] * len(ids)
    parts = made.sequence_ids(row)
    return [
        Piece(id_, kind, *(span if part == 0 else (NONE, NONE)))
        for id_, kind, span, part in zip(ids, kinds, made["offset_mapping"][row], parts, strict=True)
    ]


def _within(piece: Piece, begins: int, length: int) -> Piece:
    """The piece of a prompt with its characters counted from the beginning of the text inside."""
    start, end = max(piece.start - begins, 0), min(piece.end - begins, length)
    return Piece(piece.id, piece.kind, start, end) if start < end else Piece(piece.id, piece.kind, NONE, NONE)


def _query(example: Example) -> str:
    return example.query_text if example.query_text is not None else " ".join(example.query or ())


def collate(examples: Sequence[Example], rows: Sequence[Columns]) -> Batch:
    """A batch of columns; inputs [B, L, S + 1] hold the pieces of a column and, last, their type."""
    lengths = np.array([len(row.unit) for row in rows])
    longest = max((int(row.slot.max(initial=0)) + 1 for row in rows), default=1)
    shape = (len(rows), int(lengths.max(initial=0)))
    inputs = np.full((*shape, longest + 1), NONE, dtype=np.int32)
    inputs[..., -1] = 0
    units = np.full(shape, NONE, dtype=np.int64)
    for number, row in enumerate(rows):
        inputs[number, row.column, row.slot] = row.ids
        inputs[number, : len(row.kind), -1] = row.kind
        units[number, : len(row.unit)] = row.unit
    return Batch.collate(
        examples,
        inputs=torch.from_numpy(inputs),
        mask=torch.from_numpy(units >= 0),
        unit_index=torch.from_numpy(units),
        lengths=torch.from_numpy(lengths),
    )
