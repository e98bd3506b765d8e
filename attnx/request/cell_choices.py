"""The choices of one cell of a grid: its task, model and projection with their options, and its training."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from .option_text import choice_label
from .spec import Choice, Options

AXES = ("task", "model", "projection", "training")


class CellChoices(Options):
    """The components of a cell with the options that were given, and the training settings."""

    task: Choice
    model: Choice
    projection: Choice | None = None  # None: the model has none
    training: dict[str, Any] = Field(default_factory=dict)

    def name_of(self, axis: str) -> str:
        """The name of the component on an axis; training has none."""
        found = getattr(self, axis)
        return found.name if isinstance(found, Choice) else ""

    def options_of(self, axis: str) -> dict[str, Any]:
        """The options of the component on an axis, or the training settings."""
        found = getattr(self, axis)
        return dict(found.options if isinstance(found, Choice) else found or {})

    def label_of(self, axis: str) -> str:
        """The choice on an axis as a person types it; empty if there is none."""
        return choice_label(self.name_of(axis), self.options_of(axis))
