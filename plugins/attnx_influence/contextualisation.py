from __future__ import annotations

import weakref

import torch
from torch import Tensor

from attnx import Evidence, Measure, Metric

from .influence import shares_of_influence


class Contextualisation(Metric):
    """How evenly all units influence a hidden state, from 0 for one unit alone to 1.

    H(g_{h_p}(x)) / log n averaged over the hidden states p of the n units, where g_{h_p}(x_i) is
    ‖∂‖h_p‖₂/∂X_i‖₂ normalised over units i. Near 0 a weight on a hidden state is a weight on its
    unit. It is a property of the model, the same for every explanation. Undefined for fewer than
    two units and where no unit influences any hidden state.
    """

    needs = ("gradient", "hidden")
    family = "information"
    measures = (Measure("contextualisation", "down", (0, 1)),)

    def __init__(self) -> None:
        self._latest: tuple[weakref.ref[Tensor], Tensor] | None = None

    def __call__(self, evidence: Evidence) -> Tensor:
        # asked again about the same batch for every explanation, and dear to compute
        embeddings = evidence.trace.embeddings
        if self._latest is None or self._latest[0]() is not embeddings:
            self._latest = (weakref.ref(embeddings), _entropies(evidence))
        return self._latest[1]


def _entropies(evidence: Evidence) -> Tensor:
    """[B] the mean over hidden states of the entropy of their influences, over its largest value."""
    trace = evidence.trace
    values = torch.full_like(trace.logits[:, 0], torch.nan, dtype=torch.float64)
    for rows, part, g in shares_of_influence(evidence.model, trace):
        influenced = g.sum(2) > 0  # [R, P]
        entropy = torch.special.entr(g).sum(2)  # [R, P]
        mean = entropy.sum(1) / influenced.sum(1)  # 0/0 where no hidden state is influenced
        most = part.batch.mask.sum(1).double().log()  # [R]
        values[rows] = (mean / most).clamp(0, 1)  # 0/0 for one unit; rounding
    return values
