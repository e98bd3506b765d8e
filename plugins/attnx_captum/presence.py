from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from attnx import Batch, Randomness, Trace

from .output import Output


class Presence:
    """The output as a function of which columns are there; a baseline stands for the others."""

    def __init__(self, output: Output, trace: Trace, baseline: Tensor) -> None:
        self.output = output
        self.trace = trace
        self.baseline = baseline

    def __call__(self, present: Tensor, rows: Tensor) -> Tensor:
        """[R, L], [R] -> [R]."""
        columns = int(self.trace.batch.lengths[rows].max())
        there = present[:, :columns, None].bool()
        embeddings = torch.where(
            there, self.trace.embeddings[rows, :columns], self.baseline[rows, :columns]
        )  # [R, L, E]
        return self.output(embeddings, rows)


class OneExample:
    """The output of one row as a function of which of its units are there."""

    def __init__(self, presence: Presence, row: int) -> None:
        batch = presence.trace.batch
        self.presence = presence
        self.row = row
        self.columns = batch.mask[row].nonzero()[:, 0]  # [n]
        self.length = int(batch.lengths[row])

    def __call__(self, present: Tensor) -> Tensor:
        """[R, n] -> [R]."""
        full = present.new_ones(len(present), self.length)
        full[:, self.columns] = present
        return self.presence(full, self.columns.new_full((len(present),), self.row))

    @property
    def everything(self) -> Tensor:
        """[1, n] every unit there."""
        return self.presence.trace.embeddings.new_ones(1, len(self.columns))


def example_seeds(batch: Batch, seed: int) -> list[int]:
    """A seed for every example that depends on its id and on nothing else in the batch."""
    first = batch.mask.int().argmax(1, keepdim=True)  # [B, 1] the first unit draws for all
    u = Randomness(seed).uniform(batch)[:, 0].gather(1, first)  # [B, 1]
    seeds: list[int] = (u[:, 0] * 2**53).long().tolist()
    return seeds


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch's own generator at that seed, and back where it was afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield
