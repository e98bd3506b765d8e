"""Measuring on an accelerator: passes that fit its memory, smaller ones after memory ran out.

The memory of a device is asked for and a small pass is looked at beforehand. If a batch needs more all the
same, it is measured again in halves and in passes of half the size; values belong to examples and do not
depend on the size of a pass beyond rounding.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from ..errors import AttnxWarning, out_of_memory
from ..formulas.chunks import COLUMNS, smaller_passes
from ..progress import Step
from ..protocols import Model
from ..request.plan import Tests
from ..types import Batch, Corpus
from .evaluation_mode import evaluating
from .measuring.attribution import Named, trace_of
from .measuring.measurement import MeasureSplit, measure
from .measuring.partial_results import PartialResults
from .measuring.score_keeper import ScoreKeeper
from .measuring.splits import Split, batches
from .workers.shards import merge

USED: Final = 0.8  # of the memory that is free
GRADIENTS: Final = 4  # a pass with gradients takes up to so many times the memory of one without
SMALLEST: Final = 2.0**-7  # share of the usual size: 64 columns


def fitting(model: Model, device: torch.device, *, seed: int, title: str) -> MeasureSplit | None:
    """What measures a split in the memory of an accelerator; None on a CPU, where passes are small anyway."""
    return None if device.type == "cpu" else _Fitting(model, device, seed, title)


@dataclass
class _Fitting:
    model: Model
    device: torch.device
    seed: int
    title: str
    share: float | None = None  # of the usual size of a pass; None: not known yet

    def __call__(
        self, split: Split, tests: Tests[Named], keeper: ScoreKeeper | None, step: Step
    ) -> PartialResults:
        corpus = split.corpus
        if self.share is None:
            self.share = affordable_share(self.model, split, self.device)
            if self.share < 1:
                self._say("has little free memory")
        found: list[PartialResults] = []
        for rows, batch in batches(split):
            found += self._measured(rows, batch, tests, corpus, keeper, step)
        return merge(found)

    def _measured(
        self,
        rows: Tensor,
        batch: Batch,
        tests: Tests[Named],
        corpus: Corpus,
        keeper: ScoreKeeper | None,
        step: Step,
    ) -> Iterator[PartialResults]:
        """The results of a batch, in several parts where it does not fit."""
        waiting = [(rows, batch)]
        while waiting:
            some, part = waiting.pop(0)
            assert self.share is not None
            done: PartialResults | None
            try:
                with smaller_passes(self.share):
                    done = measure(
                        self.model,
                        [(some, part)],
                        tests,
                        corpus,
                        step,
                        seed=self.seed,
                        size=len(some),
                        keeper=keeper,
                        title=self.title,
                    )
            except RuntimeError as error:
                if not out_of_memory(error) or (self.share <= SMALLEST and len(some) == 1):
                    raise
                done = None
            if done is None:  # outside of the handler, which still holds the tensors of the failed pass
                _release(self.device)
                waiting = [*self._halves(some, part), *waiting]
            else:
                yield done

    def _halves(self, rows: Tensor, batch: Batch) -> list[tuple[Tensor, Batch]]:
        """The same examples in two batches, and half the size for all passes from now on."""
        assert self.share is not None
        self.share = max(SMALLEST, self.share / 2)
        self._say("ran out of memory")
        if len(rows) == 1:
            return [(rows, batch)]
        parts = torch.arange(len(rows)).split(math.ceil(len(rows) / 2))
        return [(rows[some], batch.take(some.to(batch.mask.device))) for some in parts]

    def _say(self, what: str) -> None:
        assert self.share is not None
        text = f"{self.device} {what}: passes there are 1/{round(1 / self.share)} of the usual size"
        warnings.warn(text, AttnxWarning, stacklevel=2)


def affordable_share(model: Model, split: Split, device: torch.device) -> float:
    """The size of passes that fits the free memory of a device, as a share of the usual one."""
    free = free_memory(device)
    if free is None:
        return 1.0
    needed = GRADIENTS * COLUMNS * bytes_of_a_column(model, split, device)
    fits = USED * free / max(1.0, needed)
    return min(1.0, max(SMALLEST, 2.0 ** math.floor(math.log2(max(fits, SMALLEST)))))


def free_memory(device: torch.device) -> int | None:
    """How many bytes of a device are free; None where nobody says."""
    if device.type != "cuda" or not torch.cuda.is_available():
        return None
    return int(torch.cuda.mem_get_info(device)[0])


def bytes_of_a_column(model: Model, split: Split, device: torch.device) -> float:
    """How much memory a pass takes for each column, looked at with one example of medium length."""
    middle = split.lengths.argsort()[len(split) // 2 :][:1]
    batch = split.take(middle)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    with evaluating(model):
        trace_of(model, batch)
    return (torch.cuda.max_memory_allocated(device) - before) / batch.mask.shape[1]


def _release(device: torch.device) -> None:
    """Give back what torch holds for later: memory in pieces is memory that the next pass lacks."""
    if device.type == "cuda" and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
