"""Words in the pieces of a tokenizer, a column of a batch for every word.

A word is cut by itself, so a text without a word is the same text with the word's pieces left out.
The special pieces around a text, a query and the words of a template are columns without a unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from attnx.plugin import Batch, DataError, Example

NONE = -1  # no piece
PROBE = "a"
QUERY = "{query}"  # of a template

Column = tuple[list[int], int, int]  # pieces, their token type, the unit or -1


@dataclass(frozen=True)
class Frame:
    """The pieces around a text, and around a text and its query, each with its token type."""

    before: tuple[tuple[int, int], ...]
    between: tuple[tuple[int, int], ...] = ()
    after: tuple[tuple[int, int], ...] = ()
    text_type: int = 0
    query_type: int = 0


class WordPieces:
    """A tokenizer seen as a map from words to pieces."""

    def __init__(self, tokenizer: Any, limit: int, asked: bool) -> None:
        self.tokenizer = tokenizer
        self.limit = limit  # pieces of a whole row
        self._known: dict[str, list[int]] = {}
        self.frame = self._framed(asked)

    def of(self, words: Sequence[str]) -> list[list[int]]:
        """The pieces of each word; a word that has none is the unknown piece."""
        new = list({word for word in words if word not in self._known})
        if new:
            cut = self.tokenizer([[word] for word in new], is_split_into_words=True, add_special_tokens=False)
            unknown = [self.tokenizer.unk_token_id or 0]
            self._known |= {word: ids or unknown for word, ids in zip(new, cut["input_ids"], strict=True)}
        return [self._known[word] for word in words]

    def _framed(self, asked: bool) -> Frame:
        """What the tokenizer puts around a word, and around two."""
        (piece,) = self.of([PROBE])
        made = self.tokenizer(*([[[PROBE]]] * (2 if asked else 1)), is_split_into_words=True)
        ids: list[int] = made["input_ids"][0]
        types: list[int] = made.get("token_type_ids", [[0] * len(ids)])[0]
        pairs = list(zip(ids, types, strict=True))
        starts = [i for i in range(len(ids)) if ids[i : i + len(piece)] == piece]
        first, last = starts[0], starts[-1]
        end = first + len(piece)
        return Frame(
            before=tuple(pairs[:first]),
            between=tuple(pairs[end:last]) if asked else (),
            after=tuple(pairs[last + len(piece) :]),
            text_type=types[first],
            query_type=types[last],
        )

    def encode(self, examples: Sequence[Example], around: tuple[list[str], list[str]] | None = None) -> Batch:
        """Examples as a batch; `around` are words of a template before and after the text."""
        self.of([word for example in examples for word in (*example.units, *(example.query or ()))])
        return collate(examples, [self._columns(example, around) for example in examples])

    def _columns(self, example: Example, around: tuple[list[str], list[str]] | None) -> list[Column]:
        frame = self.frame
        before: list[Column] = [([id_], kind, NONE) for id_, kind in frame.before]
        after: list[Column] = []
        if around is not None:  # a prompt goes on after its text: nothing closes it
            before += [(ids, frame.text_type, NONE) for ids in self.of(_asking(around[0], example))]
            after += [(ids, frame.text_type, NONE) for ids in self.of(_asking(around[1], example))]
        else:
            if example.query is not None:
                after += [([id_], kind, NONE) for id_, kind in frame.between]
                after += [(ids, frame.query_type, NONE) for ids in self.of(example.query)]
            after += [([id_], kind, NONE) for id_, kind in frame.after]
        left = self.limit - sum(len(ids) for ids, _, _ in (*before, *after))
        if left < 1:
            raise DataError(
                f"Example '{example.id}' leaves no room for its text: what is read beside it takes all "
                f"{self.limit} pieces that the model reads."
            )
        words: list[Column] = []
        for unit, ids in enumerate(self.of(example.units)):
            left -= len(ids)
            if left < 0:
                break
            words.append((ids, frame.text_type, unit))
        return [*before, *words, *after]


def _asking(template: Sequence[str], example: Example) -> list[str]:
    """The words of a template with the query in its place."""
    return [word for part in template for word in ((example.query or ()) if part == QUERY else (part,))]


def collate(examples: Sequence[Example], rows: Sequence[list[Column]]) -> Batch:
    """A batch of columns; inputs [B, L, S + 1] hold the pieces of a column and, last, their type."""
    lengths = np.array([len(columns) for columns in rows])
    longest = max((len(ids) for columns in rows for ids, _, _ in columns), default=1)
    shape = (len(rows), int(lengths.max(initial=0)))
    inputs = np.full((*shape, longest + 1), NONE, dtype=np.int32)
    inputs[..., -1] = 0
    units = np.full(shape, NONE, dtype=np.int64)
    for row, columns in enumerate(rows):
        for place, (ids, kind, unit) in enumerate(columns):
            inputs[row, place, : len(ids)] = ids
            inputs[row, place, -1] = kind
            units[row, place] = unit
    return Batch.collate(
        examples,
        inputs=torch.from_numpy(inputs),
        mask=torch.from_numpy(units >= 0),
        unit_index=torch.from_numpy(units),
        lengths=torch.from_numpy(lengths),
    )
