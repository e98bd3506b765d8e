"""The answer of a language model: its pieces, and what each of them depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UsageError, did_you_mean
from .provenance import Record


class Answer(Record):
    """An answer that was explained as a whole and piece by piece."""

    words: str  # the whole answer
    generated: bool  # the model's own, piece by piece the most probable; else it was given
    pieces: tuple[str, ...]  # of the model's tokenizer, spaces included
    probabilities: tuple[float, ...]  # of each piece after those before it
    scores: dict[str, tuple[tuple[float | None, ...], ...]]  # by method: for each piece one score per unit

    def matrix(self, method: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The scores of a method, one row for each piece of the answer and one column for each unit.

        Args:
            method: the method.

        Returns:
            The scores [pieces, units]; NaN where a score is undefined.

        Raises:
            UsageError: there are no scores of that method.
        """
        if method not in self.scores:
            known = ", ".join(self.scores)
            raise UsageError(
                f"There is no method '{method}' here.{did_you_mean(method, self.scores)} Known: {known}."
            )
        return np.array(self.scores[method], dtype=float)
