import torch
from torch import Tensor
from torch.nn import functional as F

from attnx import ImportanceMethod, Model, Trace

from .change import change_of_output
from .options import HiddenLeaveOneOutOptions

WEIGHTS = 2**22  # attention weights handed to the model at a time


class HiddenLeaveOneOut(ImportanceMethod):
    """Change of the output when a unit's hidden state is left out of what attention averages.

    |p_ŷ − p_ŷ,−i| / Σ_k |p_ŷ − p_ŷ,−k|, where p_−i is the output under a_j / Σ_{k≠i} a_k for j ≠ i and
    0 for i, hidden states being as they were. Where a_i = 1, as sparse attention has it, the others
    share the weight equally. An only unit gets 0, as nothing is left to average.
    """

    needs = ("attention",)

    def __init__(self, options: HiddenLeaveOneOutOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor) -> Tensor:
        mask = trace.batch.mask
        columns = torch.arange(mask.shape[1], device=mask.device)
        together = max(1, WEIGHTS // max(1, mask.numel()))
        changes = [self._change(model, trace, target, some) for some in columns.split(together)]
        values = torch.cat(changes, 1)  # [B, L]
        values = values.masked_fill(~mask | (mask.sum(1, keepdim=True) == 1), 0.0)
        if self.options.normalise:
            values = F.normalize(values, p=1.0, eps=torch.finfo(torch.float64).tiny)
        return values.to(trace.logits.dtype)

    def _change(self, model: Model, trace: Trace, target: Tensor, columns: Tensor) -> Tensor:
        """[B, K] the change of the output without each of these K columns."""
        without = model.reattend(trace, attention_without(trace, columns))  # [B, K, C]
        change = change_of_output(trace.logits, without)
        if self.options.of == "average":
            return change.mean(-1)
        return change[torch.arange(len(target), device=target.device), :, target]


def attention_without(trace: Trace, columns: Tensor) -> Tensor:
    """[B, K, L] attention with each of K columns at 0 and the rest brought back to a sum of 1."""
    kept = columns[:, None] != torch.arange(trace.attention.shape[1], device=columns.device)  # [K, L]
    without = trace.attention[:, None] * kept
    others = (trace.batch.mask[:, None] & kept).to(without)
    without = torch.where(without.sum(-1, keepdim=True) == 0, others, without)
    total = without.sum(-1, keepdim=True)  # 0 for an only unit
    return without / total.masked_fill(total == 0, 1.0)
