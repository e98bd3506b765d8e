"""What a drawing must have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Protocol

from ..types import DrawingData, TaskData, Trace
from .models import Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Drawing(Protocol):
    """A figure of a trained model. Its numbers are stored with the run, so it can be drawn without the model.

    A drawing takes no options. It is made for the first seed of every run that has what it needs.

    Attributes:
        needs: what task and model must provide.
        title: the heading of the figure.
        caption: the sentence below it.
        size: width and height in inches.
        examples: the largest number of test examples that it is made from.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str]
    caption: ClassVar[str]
    size: ClassVar[tuple[float, float]]
    examples: ClassVar[int] = 400

    def collect(self, model: Model, trace: Trace, data: TaskData, /) -> Mapping[str, DrawingData] | None:
        """Compute what will be drawn.

        Args:
            model: the trained model.
            trace: its forward pass over test examples.
            data: the examples of the task.

        Returns:
            Arrays and tuples of texts by name, which the run stores; None if there is nothing to draw.
        """
        ...

    def draw(self, figure: Figure, kept: Mapping[str, DrawingData], /) -> None:
        """Draw into an empty matplotlib figure.

        Args:
            figure: the figure.
            kept: what `collect` returned.
        """
        ...
