"""Importances that are kept from run to run, by weights, method, options, seed and texts.

Scores belong to a batch, because passes of another shape round in another way: what is read is bit for
bit what would be computed. A method that sends nothing through the model is not worth it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from ...data.access import Source
from ...data.loading import add_example
from ...formulas.erasure import remembered
from ...request.plan import Part, Plan, Tests
from ...request.spec import canonical_json, digest
from ...store.identity import scores_name
from ...store.kept_tensors import KeptTensors, budget
from ...types import Batch, Importance, TaskData, Trace
from .attribution import KeptScores, Named


@dataclass(frozen=True)
class MethodScores(KeptScores):
    """The kept scores of one method for one trained model."""

    store: KeptTensors
    name: str  # of all that the scores depend on except the batch

    def find(self, label: str, trace: Trace, target: Tensor) -> Importance | None:
        """The scores of this batch, with what they cost when they were computed."""
        found = self.store.find(self._key(trace.batch, target))
        if found is None:
            return None
        tensors, record = found
        values = tensors["values"].to(trace.attention.device)
        known = remembered()
        if known is not None and "rows" in tensors:
            columns = tensors["columns"].numpy()
            names = [
                (row, bits.tobytes()) for row, bits in zip(tensors["rows"].tolist(), columns, strict=True)
            ]
            known.learn(names, tensors["logits"].to(trace.logits.device))
        return Importance(
            label,
            values,
            target,
            float(record["seconds"]),
            int(record["passes"]),
            on_cpu=bool(record["on_cpu"]),
            reused=True,
        )

    def outputs(self) -> int:
        """For how many parts of this batch the outputs are known by now."""
        known = remembered()
        return 0 if known is None else len(known.places)

    def keep(self, trace: Trace, scores: Importance, before: int) -> None:
        """Keep the scores of this batch, and the outputs for parts of it that came to be known meanwhile."""
        tensors = {"values": scores.values}
        known = remembered()
        new, logits = ([], None) if known is None else known.learnt_after(before)
        if logits is not None:
            tensors["rows"] = torch.tensor([row for row, _ in new])
            columns = np.frombuffer(b"".join(columns for _, columns in new), dtype=np.uint8)
            tensors["columns"] = torch.from_numpy(columns.reshape(len(new), -1).copy())
            tensors["logits"] = logits
        record = {"seconds": scores.seconds, "passes": scores.passes, "on_cpu": scores.on_cpu}
        self.store.keep(self._key(trace.batch, scores.target), tensors, record)

    def _key(self, batch: Batch, target: Tensor) -> str:
        hashed = hashlib.sha256(self.name.encode())
        for example in batch.examples:
            add_example(hashed, example)
        of_batch = (batch.inputs, batch.mask, batch.unit_index, batch.lengths, batch.query, target)
        for tensor in of_batch:
            if tensor is not None:
                hashed.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
                hashed.update(tensor.detach().cpu().contiguous().numpy().tobytes())
        return hashed.hexdigest()[:32]


def with_kept_scores(
    tests: Tests[Named], plan: Plan, data: TaskData, *, weights: str, seed: int, device: torch.device
) -> Tests[Named]:
    """The tests with methods that read what is kept and keep what they compute.

    `weights` is the hash of the trained weights. Objects that the caller made have no stable name, so
    nothing of theirs is kept.
    """
    if not (plan.names_weights and budget()):
        return tests
    store = KeptTensors("importances")
    parts = {part.label: part for part in plan.tests.methods}

    def keeping(named: Named) -> Named:
        part = parts.get(named.label)
        if part is None or part.component is None or not getattr(named.component, "passes", 0):
            return named
        return replace(named, kept=MethodScores(store, _name(plan, part, data, weights, seed, device)))

    return Tests(*(role if role is tests.metrics else tuple(map(keeping, role)) for role in tests.roles))


def _name(plan: Plan, part: Part, data: TaskData, weights: str, seed: int, device: torch.device) -> str:
    read = data.fingerprint if data.features is not None else ""  # inputs are rows of these
    of_run = canonical_json([weights, read, data.label_names, seed, part.label])
    return digest(scores_name(plan, part, data.source or Source(), device), of_run)
