"""Which output of a model is explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from .batches import Trace


@dataclass(frozen=True, slots=True)
class ExplainedClass:
    """The class whose output is explained, and the class that it is contrasted with.

    Attributes:
        target: the number of a class, "predicted" for the predicted class of each example, or "gold" for its
            label.
        versus: the class that `target` is contrasted with, or None.
    """

    target: int | Literal["predicted", "gold"] = "predicted"
    versus: int | None = None

    def of(self, trace: Trace) -> Tensor:
        """Give the explained class of every example.

        Args:
            trace: a forward pass.

        Returns:
            The classes [B].
        """
        if self.target == "predicted":
            return trace.predicted
        if self.target == "gold":
            return trace.batch.labels.to(trace.predicted)
        return torch.full_like(trace.predicted, self.target)
