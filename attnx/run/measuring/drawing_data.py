"""The data that drawing plugins take from a trained model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from ...protocols import Model
from ...request.plan import Part
from ...types import DrawingData, TaskData
from ..evaluation_mode import evaluating
from ..plugin_errors import errors_of
from .attribution import trace_of


def collect_drawing_data(
    model: Model, data: TaskData, drawings: Sequence[Part], device: torch.device
) -> dict[str, Mapping[str, DrawingData]]:
    """Ask every drawing for its data; drawings without any are left out."""
    collected: dict[str, Mapping[str, DrawingData]] = {}
    for part in drawings:
        with errors_of(part.title), evaluating(model):
            drawing = part.make()
            batch = model.encode(data.test[: drawing.examples]).to(device)
            drawn = drawing.look(model, trace_of(model, batch), data)
        if drawn is not None:
            collected[part.label] = dict(drawn)
    return collected
