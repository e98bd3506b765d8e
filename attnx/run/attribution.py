"""One forward pass, and the scores of an importance method on what it revealed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..errors import PluginError
from ..protocols import ImportanceMethod, Model
from ..types import Batch, Importance, Trace


@dataclass(frozen=True, slots=True)
class Named:
    """A component with the label it has in the report."""

    label: str
    component: Any


def trace_of(model: Model, batch: Batch) -> Trace:
    """One forward pass."""
    return model.run(batch, model.embed(batch))


def attribute(named: Named, model: Model, trace: Trace, target: Tensor) -> Importance:
    """The scores of one importance method, with gradients on only where it declares the need."""
    method: ImportanceMethod = named.component
    counted: Any = _Counted(model)
    started = time.perf_counter()
    with torch.set_grad_enabled("gradient" in method.needs):
        values = method(counted, trace, target).detach()
    seconds = time.perf_counter() - started
    if values.shape != trace.attention.shape:
        raise PluginError(
            f"importance '{named.label}' gave values of shape {tuple(values.shape)}, "
            f"not {tuple(trace.attention.shape)}"
        )
    values = values.masked_fill(~trace.batch.mask, 0.0)
    return Importance(named.label, values, target, seconds, counted.passes)


class _Counted:
    """A model that counts the examples sent through it."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.passes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def run(self, batch: Batch, embeddings: Tensor, **settings: Any) -> Trace:
        self.passes += len(embeddings)
        return self._model.run(batch, embeddings, **settings)

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        self.passes += len(hidden)
        return self._model.decode(batch, hidden)

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        self.passes += attention[..., 0].numel()
        return self._model.reattend(trace, attention)

    def influence(self, trace: Trace) -> Tensor:
        self.passes += len(trace.batch)
        return self._model.influence(trace)  # type: ignore[attr-defined]

    def without_each(self, trace: Trace) -> Tensor:
        self.passes += int(trace.batch.mask.sum())
        return self._model.without_each(trace)  # type: ignore[attr-defined]
