from typing import cast

import torch
from torch import Tensor
from torch.nn import functional as F

from attnx.formulas import Randomness, at_once, logits_of_kept
from attnx.plugin import DeletingModel, ImportanceMethod, Model, Trace

from .backgrounds import logits_over_backgrounds
from .change import change_of_output, settled_changes
from .deletion import logits_without_each
from .options import LeaveOneOutOptions
from .replacement import logits_replacing_each
from .windows import Windows


class LeaveOneOut(ImportanceMethod):
    """Change of the output when one unit is left out and the model runs again (leave-one-out).

    The score of unit i (a word, an image patch, ...) is (p_ŷ − p_ŷ,−i) / Σ_k |p_ŷ − p_ŷ,−k|, where p_−i
    is the output without it: above 0 if the unit speaks for the class, below 0 if it speaks against it.
    signed=false takes the absolute value; of=average takes the mean of |p_c − p_c,−i| over all classes c,
    as Jain and Wallace do. variant says what takes the place of the unit: nothing (delete), a baseline
    embedding (mask), or random background units (background), over which p_−i is averaged. window=w leaves
    out w neighbouring units at a time (at most all but one); a unit gets the mean change over the windows
    that hold it. The only unit of an example gets 0, because there is no output without it. Costs one
    forward pass per unit. If two units carry the same information, deleting one of them changes little, so
    both score low; a window that holds both does not have that problem.
    """

    needs = ("deletion",)
    passes = "units"

    def __init__(self, options: LeaveOneOutOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = options.has_signs

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        logits = trace.logits
        if self.options.variant == "background":  # whose outputs are means of probabilities
            logits = logits.double().log_softmax(-1)
        if self.options.window > 1:
            change = self._changes_of_windows(model, trace)  # [B, L, C]
        else:
            without = self._logits(model, trace, random)
            change = change_of_output(logits, without, signed=self.options.has_signs)  # [B, L, C]
        if self.options.of == "average":
            values = change.mean(-1)  # [B, L]
        else:
            values = change[torch.arange(len(target), device=target.device), :, target]  # [B, L]
        of = None if self.options.of == "average" else target
        values = settled_changes(values, trace.batch.mask, logits, of)
        values = values.masked_fill(~self._measured(trace.batch.mask), 0.0)
        if self.options.normalise:
            values = F.normalize(values, p=1.0, eps=_TINY)
        return values.to(trace.logits.dtype)

    def _changes_of_windows(self, model: Model, trace: Trace) -> Tensor:
        """Return [B, L, C] the mean change over the windows that hold the unit of each column."""
        batch = trace.batch
        windows = Windows.of(batch.mask, self.options.window)
        used = torch.arange(batch.mask.shape[1], device=batch.mask.device) < batch.lengths[:, None]  # [B, L]
        changes = [trace.logits.new_zeros(0, trace.logits.shape[1], dtype=torch.float64)]
        for some in torch.arange(len(windows.rows)).split(at_once(batch.mask.shape[1])):
            rows = windows.rows[some]
            without = logits_of_kept(model, batch, rows, used[rows] & ~windows.gone[some])  # [R, C]
            changed = change_of_output(trace.logits[rows], without[:, None], signed=self.options.has_signs)
            changes.append(changed[:, 0])
        return windows.mean_by_unit(torch.cat(changes))

    def _logits(self, model: Model, trace: Trace, random: Randomness) -> Tensor:
        """Return [B, L, C] logits with the unit of each column left out."""
        if self.options.variant == "background":
            return logits_over_backgrounds(model, trace, random, self.options.draws)
        if self.options.variant == "mask":
            return logits_replacing_each(model, trace, self.options.baseline)
        if "fast-deletion" in model.provides:
            return cast("DeletingModel", model).without_each(trace)
        return logits_without_each(model, trace)

    def _measured(self, mask: Tensor) -> Tensor:
        """Return [B, L] where an output without the unit exists."""
        return mask if self.options.variant != "delete" else mask & (mask.sum(1, keepdim=True) > 1)


_TINY = torch.finfo(torch.float64).tiny
