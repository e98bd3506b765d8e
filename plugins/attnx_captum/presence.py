"""The output as a function of which units are present; a baseline replaces the others."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from torch import Tensor

from attnx.formulas import passes_at_once
from attnx.plugin import ReplacingModel, Trace

from .output import Output


class Presence:
    """The explained output of examples of which some units are absent."""

    def __init__(self, output: Output, trace: Trace, baseline: Tensor) -> None:
        self.output = output
        self.trace = trace
        self.baseline = baseline

    def __call__(self, rows: Tensor, absent: Tensor) -> Tensor:
        """[R], [R, L] -> [R]; equal inputs are run once, and an example with all its units is known."""
        found = self.output.explained(self.trace.logits[rows], rows)
        changed = absent.any(1).nonzero()[:, 0]
        if len(changed):
            first, same = _distinct(rows[changed], absent[changed])
            once = changed[first]
            logits = self._logits(rows[once], absent[once])
            found[changed] = self.output.explained(logits, rows[once])[same]
        return found

    def _logits(self, rows: Tensor, absent: Tensor) -> Tensor:
        """[R, C]."""
        model = self.output.model
        if "fast-replacement" in model.provides:
            return cast("ReplacingModel", model).replaced(self.trace, rows, absent, self.baseline)
        lengths = self.trace.batch.lengths[rows]
        order = lengths.argsort(stable=True)
        logits = self.trace.logits.new_empty(len(rows), self.trace.logits.shape[1])
        for some in order.split(passes_at_once(int(lengths.max()))):
            batch = self.trace.batch.take(rows[some])
            n = batch.mask.shape[1]
            embeddings = torch.where(
                absent[some, :n, None],
                self.baseline[rows[some], :n],
                self.trace.embeddings[rows[some], :n],
            )  # [r, n, E]
            logits[some] = model.run(batch, embeddings).logits
        return logits


def _distinct(rows: Tensor, absent: Tensor) -> tuple[Tensor, Tensor]:
    """Return a place for every different (row, absent), and for each place which of these it equals."""
    bits = np.packbits(absent.cpu().numpy(), axis=1)  # [R, bytes]
    number = rows.cpu().numpy().astype(np.int64)[:, None].view(np.uint8)  # [R, 8]
    keys = np.ascontiguousarray(np.concatenate([number, bits], axis=1))
    whole = keys.view([("key", np.void, keys.shape[1])])[:, 0]
    _, first, same = np.unique(whole, return_index=True, return_inverse=True)
    return torch.from_numpy(first).to(rows.device), torch.from_numpy(same).to(rows.device)
