from __future__ import annotations

import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric

from .influence import shares_of_influence


class Contextualisation(Metric):
    """How much each hidden state depends on its own unit, and how much it mixes all units.

    g_{h_p}(x_i) is ‖∂‖h_p‖₂/∂X_i‖₂ normalised over the n units i (words, image patches, ...).
    `contextualisation` is its entropy H(g_{h_p}(x)) / log n, averaged over hidden states p: 0 for one unit
    only, 1 for all equally. `own-share` is the mean of g_{h_p}(x_p), the share of a state's own unit, and
    `own-leads` how often that unit influences the state most. A state can mix many units and still depend
    most on its own. These describe the model, not the explanation; neither end is better. Undefined for
    examples with fewer than two units, and if no unit influences any hidden state. Costs one backward
    pass per unit, less for LSTMs and small transformers.
    """

    needs = ("gradient", "hidden")
    family = "context"
    sees = "hidden states"
    cost = "one backward pass per hidden state, less for LSTMs and small transformers"
    cannot = "whether attention is right: it is about hidden states, whatever the explanation"
    reads_explanation = False
    passes = "units"
    measures = (
        Measure("contextualisation", "none", (0, 1)),
        Measure("own-share", "none", (0, 1)),
        Measure("own-leads", "none", (0, 1)),
    )

    def __call__(self, evidence: Evidence) -> Tensor:
        trace = evidence.trace
        shape = (len(trace.batch), len(self.measures))
        values = torch.full(shape, torch.nan, dtype=torch.float64, device=trace.logits.device)
        for rows, part, g in shares_of_influence(evidence.model, trace):
            influenced = g.sum(2) > 0  # [R, P]
            entropy = torch.special.entr(g).sum(2)  # [R, P]
            mean = entropy.sum(1) / influenced.sum(1)  # 0/0 where no hidden state is influenced
            most = part.batch.mask.sum(1).double().log()  # [R]
            own = g.diagonal(dim1=1, dim2=2)  # [R, P] of each state's own unit
            leads = ((own >= g.amax(2)) & influenced).sum(1) / influenced.sum(1)
            mixing = (mean / most).clamp(0, 1)  # 0/0 for one unit; rounding
            shown = torch.stack([mixing, own.sum(1) / influenced.sum(1), leads.to(mixing)], dim=1)
            values[rows] = shown.masked_fill(mixing.isnan()[:, None], torch.nan).to(values)
        return values
