from __future__ import annotations

import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric

from .influence import shares_of_influence


class Contextualisation(Metric):
    """How much each hidden state mixes all units: 0 for one unit only, 1 for all equally.

    H(g_{h_p}(x)) / log n averaged over the hidden states p of the n units (words, image patches, ...),
    where g_{h_p}(x_i) is ‖∂‖h_p‖₂/∂X_i‖₂ normalised over units i. Near 0, a weight on a position is a
    weight on its unit. Near 1, each hidden state mixes all units, so a weight on a position is not a
    weight on its unit. It describes the model, not the explanation. Undefined for examples with fewer
    than two units, and if no unit influences any hidden state. Costs one backward pass per unit, less for
    LSTMs.
    """

    needs = ("gradient", "hidden")
    family = "context"
    sees = "hidden states"
    reads_explanation = False
    passes = "units"
    measures = (Measure("contextualisation", "down", (0, 1), midpoint=0.5),)

    def __call__(self, evidence: Evidence) -> Tensor:
        trace = evidence.trace
        values = torch.full_like(trace.logits[:, 0], torch.nan, dtype=torch.float64)
        for rows, part, g in shares_of_influence(evidence.model, trace):
            influenced = g.sum(2) > 0  # [R, P]
            entropy = torch.special.entr(g).sum(2)  # [R, P]
            mean = entropy.sum(1) / influenced.sum(1)  # 0/0 where no hidden state is influenced
            most = part.batch.mask.sum(1).double().log()  # [R]
            values[rows] = (mean / most).clamp(0, 1)  # 0/0 for one unit; rounding
        return values
