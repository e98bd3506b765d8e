"""What a model answers on some examples, and how it attends to them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..protocols import Model
from ..types import Example, Outputs
from .evaluation_mode import evaluating
from .measuring.attribution import trace_of
from .measuring.splits import Split, batches


def outputs_of(model: Model, examples: Sequence[Example], device: torch.device) -> Outputs:
    """Probabilities, attention and rationale of these examples."""
    split = Split(model, examples, device)
    found: dict[int, tuple[Tensor, ...]] = {}  # probabilities [C], attention [n], rationale [n]
    with evaluating(model):
        for rows, batch in batches(split):
            trace = trace_of(model, batch)
            of_units = (_by_example(values, batch.mask) for values in (trace.attention, batch.rationale))
            found.update(
                zip(rows.tolist(), zip(trace.probabilities.cpu(), *of_units, strict=True), strict=True)
            )
    probabilities, attention, rationale = zip(*(found[row] for row in range(len(split))), strict=True)
    return Outputs(torch.stack(probabilities), attention, rationale, split.labels)


def _by_example(values: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
    """The values [B, L] of every example over its own units [n], on the CPU."""
    return values[mask].cpu().split(mask.sum(1).tolist())
