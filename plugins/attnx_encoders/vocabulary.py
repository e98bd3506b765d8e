"""The words a model knows, and texts as rows of word numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat

import numpy as np
import torch
from torch import Tensor

from attnx.plugin import DataError

PAD, UNKNOWN, START, END = range(4)
SPECIAL = ("<pad>", "<unknown>", "<start>", "<end>")


@dataclass(frozen=True)
class Vocabulary:
    """Words by number, the special ones first, then from the most to the least frequent."""

    words: tuple[str, ...]
    number: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # A special name that occurs as a word of a text is an ordinary, unknown word.
        known = ((word, i) for i, word in enumerate(self.words) if i >= len(SPECIAL))
        object.__setattr__(self, "number", dict(known))

    @classmethod
    def of(
        cls, texts: Iterable[Iterable[str]], min_count: int = 1, max_words: int | None = None
    ) -> Vocabulary:
        """The words of training texts; equally frequent ones in alphabetical order."""
        counts = Counter(chain.from_iterable(texts))
        for name in SPECIAL:
            del counts[name]
        frequent = [word for word, count in counts.items() if count >= min_count]
        if not frequent:
            most = max(counts.values(), default=0)
            raise DataError(
                f"No word occurs min_count={min_count} times in the training texts, the most frequent {most} "
                "times; lower min_count."
            )
        frequent.sort(key=lambda word: (-counts[word], word))
        return cls((*SPECIAL, *frequent[:max_words]))

    def __len__(self) -> int:
        return len(self.words)

    def numbers(self, words: Iterable[str]) -> list[int]:
        """Return the number of each word, that of the unknown word if it is not in the vocabulary."""
        return list(map(self.number.get, words, repeat(UNKNOWN)))

    def rows(self, texts: Sequence[Sequence[str]], boundaries: bool) -> tuple[Tensor, Tensor]:
        """Texts as numbers [B, L], padded at the end, and their lengths [B], boundaries included."""
        numbers = [self.numbers(words) for words in texts]
        if boundaries:
            numbers = [[START, *row, END] for row in numbers]
        lengths = np.array([len(row) for row in numbers], dtype=np.int64)
        inside = np.arange(lengths.max(initial=0))[None] < lengths[:, None]  # [B, L]
        padded = np.full(inside.shape, PAD, dtype=np.int32)  # a split is as wide as its longest text
        padded[inside] = np.fromiter(chain.from_iterable(numbers), dtype=np.int32, count=int(lengths.sum()))
        return torch.from_numpy(padded), torch.from_numpy(lengths)
