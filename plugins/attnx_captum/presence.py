import torch
from torch import Tensor

from attnx import Batch, Trace

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
        self.row = torch.tensor([row], device=batch.mask.device)
        self.batch: Batch = batch.take(self.row)  # of this example alone
        self.columns = self.batch.mask[0].nonzero()[:, 0]  # [n]

    def __call__(self, present: Tensor) -> Tensor:
        """[R, n] -> [R]."""
        full = present.new_ones(len(present), self.batch.mask.shape[1])
        full[:, self.columns] = present
        return self.presence(full, self.row.expand(len(present)))
