"""Hidden states that training does not change: computed once for all epochs, kept for later training runs.

They are computed in the batches of the split in order, so that they are the same bit for bit whether they
are read or computed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import torch
from torch import Tensor

from ...errors import PluginError
from ...progress import Progress
from ...protocols import FrozenModel, Model
from ...store.identity import states_name
from ...store.kept_tensors import KeptTensors
from ...types import Batch, Trace
from ..evaluation_mode import evaluating
from ..measuring.splits import Split, batches

COLUMNS: Final = 2**11  # of a batch: of 2**13, a tenth is padding, and no pass is faster
MOST: Final = 2**30  # bytes of one split: more would not fit into memory, and is computed in every epoch


@dataclass(frozen=True)
class FrozenStates:
    """The hidden states of the examples of a split, one after the other."""

    states: Tensor  # [N + 1, H], on the CPU; the last row is 0, for padding
    starts: dict[int, int]  # by the identity of an example: the row of its first column

    def trace(self, model: Model, batch: Batch, *, embedded: bool = True) -> Trace:
        """What a forward pass of the model shows, from states that are known.

        Its embeddings have no numbers if none are asked for.
        """
        starts = torch.tensor([self.starts[id(example)] for example in batch.examples])  # [B]
        columns = torch.arange(batch.mask.shape[1])
        used = columns < batch.lengths.cpu()[:, None]  # [B, L]
        rows = (starts[:, None] + columns).masked_fill(~used, len(self.states) - 1)
        hidden = self.states[rows].to(batch.mask.device)  # [B, L, H]
        embeddings = model.embed(batch) if embedded else hidden[..., :0]
        return Trace(batch, embeddings, hidden, *model.decode(batch, hidden))


def frozen_states(
    model: Model, split: Split, device: torch.device, progress: Progress, label: str, *, kept: bool
) -> FrozenStates | None:
    """The states of a split; None if the model's states change in training, or are too many.

    They are read and kept on disk only if `kept`.
    """
    if "frozen-states" not in model.provides or not len(split):
        return None
    frozen = cast("FrozenModel", model)
    total = int(split.lengths.sum())
    with evaluating(model):
        width = frozen.frozen_states(split.take(torch.tensor([0]))).shape[-1]
    if total * width * 4 > MOST:
        return None
    starts = dict(
        zip(map(id, split.examples), (split.lengths.cumsum(0) - split.lengths).tolist(), strict=True)
    )
    store = KeptTensors("states")
    key = _key(frozen, split, device) if kept else ""
    found = store.find(key) if key else None
    if found is not None and found[0]["states"].shape == (total + 1, width):
        return FrozenStates(found[0]["states"], starts)
    states = torch.zeros(total + 1, width)
    with evaluating(model), progress.stage(f"{label}: hidden states, once", len(split)) as step:
        for rows, batch in batches(split, COLUMNS):
            _fill(states, frozen.frozen_states(batch), batch, [starts[id(e)] for e in split.at(rows)])
            step(len(rows))
    if key:
        store.keep(key, {"states": states}, {})
    return FrozenStates(states, starts)


def _fill(states: Tensor, hidden: Tensor, batch: Batch, starts: Sequence[int]) -> None:
    """Put the states [B, L, H] of a batch where those of its examples begin."""
    if hidden.shape[:2] != batch.mask.shape:
        raise PluginError(f"frozen_states returned {tuple(hidden.shape)} for {tuple(batch.mask.shape)} units")
    for row, start, length in zip(hidden.cpu(), starts, batch.lengths.tolist(), strict=True):
        states[start : start + length] = row[:length]


def _key(model: FrozenModel, split: Split, device: torch.device) -> str:
    """Everything that the states depend on: code, machine, frozen weights, and what the model reads."""
    hashed = hashlib.sha256(states_name(type(model), model.frozen_settings, device).encode())
    part = model.frozen_part
    for name, tensor in [*part.named_parameters(), *part.named_buffers()]:
        hashed.update(f"{name}{tensor.dtype}{tuple(tensor.shape)}".encode())
        hashed.update(_bytes(tensor))
    for _, batch in batches(split, COLUMNS):
        for read in (batch.inputs, batch.mask, batch.lengths, batch.query):
            if read is not None:
                hashed.update(f"{read.dtype}{tuple(read.shape)}".encode())
                hashed.update(_bytes(read))
    return hashed.hexdigest()[:32]


def _bytes(tensor: Tensor) -> memoryview | bytes:
    return tensor.detach().cpu().contiguous().numpy().data if tensor.numel() else b""
