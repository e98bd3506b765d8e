from typing import cast

import torch
from attnx.plugin import DeletingModel, ImportanceMethod, Model, Trace
from torch import Tensor
from torch.nn import functional as F

from attnx.formulas import Randomness

from .backgrounds import logits_over_backgrounds
from .change import change_of_output
from .deletion import logits_without_each
from .options import LeaveOneOutOptions
from .replacement import logits_replacing_each


class LeaveOneOut(ImportanceMethod):
    """Change of the output when a unit is left out and everything is recomputed.

    D_ŷ(x_i) = |p_ŷ − p_ŷ,−i| / Σ_k |p_ŷ − p_ŷ,−k|; Jain and Wallace average |p_c − p_c,−i| over the
    classes c. With backgrounds p_−i is the mean over draws of the output with another background unit
    in the place of i. An example of one unit has no output without it: the unit gets 0, as nothing was
    measured.
    """

    needs = ("deletion",)
    passes = "units"

    def __init__(self, options: LeaveOneOutOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        logits = trace.logits
        if self.options.variant == "background":  # whose answers are means of probabilities
            logits = logits.double().log_softmax(-1)
        change = change_of_output(logits, self._logits(model, trace, random))  # [B, L, C]
        if self.options.of == "average":
            values = change.mean(-1)  # [B, L]
        else:
            values = change[torch.arange(len(target), device=target.device), :, target]  # [B, L]
        values = values.masked_fill(~self._measured(trace.batch.mask), 0.0)
        if self.options.normalise:
            values = F.normalize(values, p=1.0, eps=_TINY)
        return values.to(trace.logits.dtype)

    def _logits(self, model: Model, trace: Trace, random: Randomness) -> Tensor:
        """[B, L, C] outputs with the unit of each column left out."""
        if self.options.variant == "background":
            return logits_over_backgrounds(model, trace, random, self.options.draws)
        if self.options.variant == "mask":
            return logits_replacing_each(model, trace, self.options.baseline)
        if "fast-deletion" in model.provides:
            return cast("DeletingModel", model).without_each(trace)
        return logits_without_each(model, trace)

    def _measured(self, mask: Tensor) -> Tensor:
        """[B, L] where an output without the unit exists."""
        return mask if self.options.variant != "delete" else mask & (mask.sum(1, keepdim=True) > 1)


_TINY = torch.finfo(torch.float64).tiny
