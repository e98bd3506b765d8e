"""The data that drawing plugins take from a trained model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ...protocols import Drawing, Model
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
            drawn = _collector(drawing)(model, trace_of(model, batch), data)
        if drawn is not None:
            collected[part.label] = dict(drawn)
    return collected


def _collector(drawing: Any) -> Callable[..., Mapping[str, DrawingData] | None]:
    """The method `collect` of a drawing, or `look`, as it was called in version 0.1."""
    has_its_own = getattr(type(drawing), "collect", Drawing.collect) is not Drawing.collect
    if has_its_own or not hasattr(drawing, "look"):
        found: Callable[..., Mapping[str, DrawingData] | None] = drawing.collect
        return found
    warnings.warn(
        f"The method look of drawing {type(drawing).__name__} is now collect; the old name works until "
        "version 0.3",
        DeprecationWarning,
        stacklevel=2,
    )
    old: Callable[..., Mapping[str, DrawingData] | None] = drawing.look
    return old
