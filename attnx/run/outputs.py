"""What a model answers on some examples, and how it attends to them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..progress import Progress
from ..protocols import Model
from ..types import Example, Outputs
from .evaluation_mode import evaluating
from .measuring.attribution import Named, trace_of
from .measuring.explained_scores import scores_of
from .measuring.splits import Split, batches


def outputs_of(
    model: Model, examples: Sequence[Example], device: torch.device, progress: Progress | None = None
) -> Outputs:
    """Probabilities, attention and rationale of these examples."""
    split = Split(model, examples, device)
    found: dict[int, tuple[Tensor, ...]] = {}  # probabilities [C], attention [n], rationale [n]
    shown = progress or Progress("off")
    with shown.stage("running the model", len(split)) as step, evaluating(model):
        for rows, batch in batches(split):
            trace = trace_of(model, batch)
            step(len(rows))
            of_units = (_by_example(values, batch.mask) for values in (trace.attention, batch.rationale))
            found.update(
                zip(rows.tolist(), zip(trace.probabilities.cpu(), *of_units, strict=True), strict=True)
            )
    probabilities, attention, rationale = zip(*(found[row] for row in range(len(split))), strict=True)
    return Outputs(torch.stack(probabilities), attention, rationale, split.labels)


def scores_by_example(
    model: Model, split: Split, methods: Sequence[Named], seed: int, progress: Progress
) -> tuple[tuple[Tensor, ...], ...]:
    """Of every method the scores [n] of every example, for its predicted class."""
    found: list[dict[int, Tensor]] = [{} for _ in methods]
    with progress.stage(f"seed {seed}: explaining", len(split)) as step, evaluating(model):
        for rows, batch in batches(split):
            trace = trace_of(model, batch)
            for of_method, method in zip(found, methods, strict=True):
                values = scores_of(method, model, trace, trace.predicted, seed).values
                of_method |= zip(rows.tolist(), _by_example(values, batch.mask), strict=True)
            step(len(rows))
    return tuple(tuple(of_method[row] for row in range(len(split))) for of_method in found)


def _by_example(values: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
    """The values [B, L] of every example over its own units [n], on the CPU."""
    return values[mask].cpu().split(mask.sum(1).tolist())
