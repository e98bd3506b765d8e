from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace


class Uniform(ImportanceMethod):
    """The same score for every unit (a word, an image patch, ...)."""

    target_use = "ignored"

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        mask = trace.batch.mask.to(trace.attention)  # [B, L]
        return mask / mask.sum(1, keepdim=True).clamp_min(1)
