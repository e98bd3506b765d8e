"""What drawings keep of a trained model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from ...protocols import Model
from ...request.plan import Part
from ...types import DrawingData, TaskData
from ..evaluation_mode import evaluating
from ..plugin_errors import errors_of
from .attribution import trace_of


def look(
    model: Model, data: TaskData, drawings: Sequence[Part], device: torch.device
) -> dict[str, Mapping[str, DrawingData]]:
    """By the name of each drawing that has something to draw."""
    found: dict[str, Mapping[str, DrawingData]] = {}
    for part in drawings:
        with errors_of(part.title), evaluating(model):
            drawing = part.make()
            batch = model.encode(data.test[: drawing.examples]).to(device)
            kept = drawing.look(model, trace_of(model, batch), data)
        if kept is not None:
            found[part.label] = dict(kept)
    return found
