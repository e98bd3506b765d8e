"""Whether explanations change when the parameters of the model are reset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from ...errors import AttnxError
from ...formulas.correlations import average_ranks, pearson
from ...formulas.shuffled_parameters import shuffled_copy
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
    if next(iter(model.parameters()), None) is None:
        return {}
    other = shuffled_copy(model, seed)
    rows = np.random.default_rng(seed).permutation(len(split))[:SOME]
    some = split.among(np.sort(rows).tolist())
    found: dict[str, float] = {}
    wanted = split.explained
    for method in methods:
        similar: list[Tensor] = []
        try:
            for _, batch in batches(some):
                with evaluating(model), evaluating(other):
                    trace, changed = trace_of(model, batch), trace_of(other, batch)
                    seen = Seen.of(model, trace, wanted)
                    reset = replace(Seen.of(other, changed, wanted), target=seen.target)
                    before = explained_scores(method, model, trace, seen, wanted, seed)
                    after = explained_scores(method, other, changed, reset, wanted, seed)
                mask = batch.mask
                one, two = (average_ranks(scores.values.double(), mask) for scores in (before, after))
                similar.append(pearson(one, two, mask))
        except AttnxError:  # its scores for the reset model are not usable: they do change
            continue
        mean = torch.cat(similar).nanmean()
        if mean.isfinite():
            found[method.label] = float(mean)
    return found
