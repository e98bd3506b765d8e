"""What drawings keep of a trained model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from ..protocols import Model
from ..request.plan import Part
from ..types import Kept, TaskData
from .attribution import trace_of
from .batching import evaluating
from .contracts import blamed


def look(
    model: Model, data: TaskData, drawings: Sequence[Part], device: torch.device
) -> dict[str, Mapping[str, Kept]]:
    """By the name of each drawing that has something to draw."""
    found: dict[str, Mapping[str, Kept]] = {}
    for part in drawings:
        with blamed(part.title), evaluating(model):
            drawing = part.make()
            batch = model.encode(data.test[: drawing.examples]).to(device)
            kept = drawing.look(model, trace_of(model, batch), data)
        if kept is not None:
            found[part.label] = dict(kept)
    return found
