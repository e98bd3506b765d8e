from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import DataError, Example, ImportanceMethod, Model, Trace

from .options import PrecomputedOptions
from .score_files import read_scores


class Precomputed(ImportanceMethod):
    """Scores computed outside attnx, read from a file.

    A JSON-lines file (.jsonl or .jsonl.gz) has one line {"id": ..., "scores": [...]} per example; an NPZ
    file has one array per example, named by the example's id. Each example needs one finite number per
    unit (word, image patch, ...), in order; higher is more important. Scores are read in double precision.
    Two scores of an example are equal if they differ by less than a millionth of their size, as everywhere in
    attnx: scores that share a large offset are refused.
    """

    target_use = "ignored"
    computed = False

    def __init__(self, options: PrecomputedOptions) -> None:
        self.file = options.file
        scores = read_scores(options.file)
        sizes = np.array([len(values) for values in scores.values()])
        self._flat: np.ndarray[Any, Any] = np.concatenate([*scores.values(), [0.0]])  # 0 for no unit
        self.signed = bool((self._flat < 0).any())
        self._rows = {id_: row for row, id_ in enumerate(scores)}
        self._sizes = sizes
        self._starts = sizes.cumsum() - sizes

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        rows = [self._row(example) for example in trace.batch.examples]  # [B]
        unit = trace.batch.unit_index.cpu().numpy()  # [B, L]
        place = np.where(unit >= 0, self._starts[rows][:, None] + unit, -1)
        values = torch.from_numpy(self._flat[place]).to(trace.attention)  # [B, L]
        return values.masked_fill(~trace.batch.mask, 0.0)

    def check(self, examples: Sequence[Example]) -> None:
        for example in examples:
            self._row(example)

    def _row(self, example: Example) -> int:
        row = self._rows.get(example.id)
        if row is None:
            raise DataError(
                f"{self.file} has no scores for example '{example.id}': add them, or limit the run "
                "to the examples it has."
            )
        if self._sizes[row] != len(example.units):
            raise DataError(
                f"{self.file} has {self._sizes[row]} scores for example '{example.id}', which has "
                f"{len(example.units)} units: give one score for each."
            )
        return row
