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
    wanted = [parameter.requires_grad for parameter in model.parameters()]
    model.eval().requires_grad_(False)
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)
        for parameter, grad in zip(model.parameters(), wanted, strict=True):
            parameter.requires_grad_(grad)
