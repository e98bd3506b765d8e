"""The steps of an LSTM that reads texts of several lengths at once, without padding."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Steps:
    """Which rows [R] each step reads: the first ones, those of texts that have a column left.

    P counts what is read, step after step and row after row.
    """

    rows: int  # R
    columns: int  # n
    counts: tuple[int, ...]  # [n] the rows of each step
    column: Tensor  # [D, P] the column that is read, counted through [R, n]

    @classmethod
    def of(cls, lengths: Tensor, n: int) -> Steps:
        """Those of rows of these lengths [R], the longest first, at most n."""
        step = torch.arange(n, device=lengths.device)
        left = step[:, None] < lengths  # [n, R]
        at, row = left.nonzero(as_tuple=True)  # [P] each
        column = row * n + torch.stack([at, lengths[row] - 1 - at])
        return cls(len(lengths), n, tuple(left.sum(1).tolist()), column)

    @property
    def place(self) -> Tensor:
        """[D·P] what is read, counted through [R, n, D]."""
        return (2 * self.column + torch.arange(2, device=self.column.device)[:, None]).flatten()

    def split(self, values: Tensor) -> tuple[Tensor, ...]:
        """By step: [D, r, ...] of values [D, P, ...]."""
        return values.split(self.counts, 1)

    def read(self, vectors: Tensor) -> Tensor:
        """[D, P, ...] what each direction reads of vectors [R, n, ...]."""
        return vectors.flatten(0, 1)[self.column]
