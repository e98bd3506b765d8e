"""Whether explanations change when the parameters of the model are reset."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from ...errors import AttnxError
from ...formulas.correlations import average_ranks, pearson
from ...protocols import Model
from ..evaluation_mode import evaluating
from .attribution import Named, trace_of
from .explained_scores import Seen, explained_scores
from .splits import Split, batches

SOME = 40  # examples: enough to see whether scores change


def reset_similarity(model: Model, split: Split, methods: Sequence[Named], seed: int) -> dict[str, float]:
    """By method the mean rank correlation of its scores before and after a reset of every parameter.

    A reset shuffles the entries of each parameter, so their sizes stay what they were. Empty for a model
    without parameters; a method that cannot explain the reset model has no entry.
    """
    module = cast("nn.Module", model)
    if next(module.parameters(), None) is None:
        return {}
    other = shuffled_copy(module, seed)
    rows = np.random.default_rng(seed).permutation(len(split))[:SOME]
    some = split.among(np.sort(rows).tolist())
    found: dict[str, float] = {}
    wanted = split.explained
    for method in methods:
        similar: list[Tensor] = []
        try:
            for _, batch in batches(some):
                with evaluating(model), evaluating(cast("Model", other)):
                    trace, changed = trace_of(model, batch), trace_of(cast("Model", other), batch)
                    seen = Seen.of(model, trace, wanted)
                    reset = replace(Seen.of(cast("Model", other), changed, wanted), target=seen.target)
                    before = explained_scores(method, model, trace, seen, wanted, seed)
                    after = explained_scores(method, cast("Model", other), changed, reset, wanted, seed)
                mask = batch.mask
                one, two = (average_ranks(scores.values.double(), mask) for scores in (before, after))
                similar.append(pearson(one, two, mask))
        except AttnxError:  # its scores for the reset model are not usable: they do change
            continue
        mean = torch.cat(similar).nanmean()
        if mean.isfinite():
            found[method.label] = float(mean)
    return found


def shuffled_copy(module: nn.Module, seed: int) -> nn.Module:
    """A copy of a module with the entries of each of its parameters in another order."""
    other = copy.deepcopy(module)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in other.parameters():
            order = torch.randperm(parameter.numel(), generator=generator).to(parameter.device)
            parameter.copy_(parameter.flatten()[order].view_as(parameter))
    return other
