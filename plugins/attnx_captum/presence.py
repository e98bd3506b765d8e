import torch
from torch import Tensor

from attnx.plugin import Batch, Trace

from .output import Output


class Presence:
    """The output as a function of which columns are present; a baseline replaces the others."""

    def __init__(self, output: Output, trace: Trace, baseline: Tensor) -> None:
        self.output = output
        self.trace = trace
        self.baseline = baseline

    def __call__(self, present: Tensor, rows: Tensor) -> Tensor:
        """[R, L], [R] -> [R]; where nothing is absent the output is known."""
        known = self.output.explained(self.trace.logits[rows], rows)
        columns = int(self.trace.batch.lengths[rows].max())
        absent = (present[:, :columns] == 0) & self.trace.batch.mask[rows, :columns]  # [R, L]
        changed = absent.any(1).nonzero()[:, 0]
        if len(changed):
            at = rows[changed]
            embeddings = torch.where(
                absent[changed, :, None], self.baseline[at, :columns], self.trace.embeddings[at, :columns]
            )  # [R, L, E]
            known[changed] = self.output(embeddings, at)
        return known


class OneExample:
    """The output of one row as a function of which of its units are present."""

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
