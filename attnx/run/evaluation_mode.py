"""The one place that switches a model to evaluation mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from ..protocols import Model


@contextmanager
def evaluating(model: Model) -> Iterator[None]:
    """Evaluation mode, parameters frozen, gradients off; all restored whatever happens."""
    training = model.training
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    model.eval().requires_grad_(False)
    try:
        with torch.no_grad():
            yield
    finally:
        if training:
            model.train()
        for parameter in learning:
            parameter.requires_grad_()
