import torch
from torch import Tensor
from torch.nn import functional as F

from attnx.formulas import Randomness, at_once
from attnx.plugin import ImportanceMethod, Model, Trace

from .change import change_of_output, settled_changes
from .options import HiddenLeaveOneOutOptions


class HiddenLeaveOneOut(ImportanceMethod):
    """Change of the output when a unit's hidden state is excluded from the attention average.

    The score of unit i (a word, an image patch, ...) is |p_ŷ − p_ŷ,−i| / Σ_k |p_ŷ − p_ŷ,−k|, where p_−i
    is the output when attention is computed without unit i from the same scores, and all hidden states
    stay the same. For softmax that is a_j / Σ_{k≠i} a_k; sparse attention may move to units that had
    weight 0. Scores are at least 0; higher is more important. The only unit of an example gets 0, because
    nothing is left to average. Costs one pass of the decoder per unit. Each hidden state mixes several
    units, so this is not the effect of deleting the unit itself (`loo`).
    """

    needs = ("reattend", "projection")

    def __init__(self, options: HiddenLeaveOneOutOptions) -> None:
        self.options = options
        self.target_use = options.target_use

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        mask = trace.batch.mask
        columns = torch.arange(mask.shape[1], device=mask.device)
        changes = [self._change(model, trace, target, some) for some in columns.split(at_once(mask.numel()))]
        of = None if self.options.of == "average" else target
        values = settled_changes(torch.cat(changes, 1), mask, trace.logits, of)  # [B, L]
        values = values.masked_fill(~mask | (mask.sum(1, keepdim=True) == 1), 0.0)
        if self.options.normalise:
            values = F.normalize(values, p=1.0, eps=torch.finfo(torch.float64).tiny)
        return values.to(trace.logits.dtype)

    def _change(self, model: Model, trace: Trace, target: Tensor, columns: Tensor) -> Tensor:
        """Return [B, K] the change of the output without each of these K columns."""
        others = columns[:, None] != torch.arange(trace.scores.shape[1], device=columns.device)  # [K, L]
        kept = trace.batch.mask[:, None] & others  # [B, K, L]
        scores = trace.scores[:, None].expand(kept.shape)
        attention = model.projection(scores.flatten(0, 1), kept.flatten(0, 1)).view(kept.shape)
        without = model.reattend(trace, attention)  # [B, K, C]
        change = change_of_output(trace.logits, without)
        if self.options.of == "average":
            return change.mean(-1)
        return change[torch.arange(len(target), device=target.device), :, target]
