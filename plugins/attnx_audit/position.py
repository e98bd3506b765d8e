from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace


class First(ImportanceMethod):
    """The earlier a unit stands, the higher its score: from 1 for the first to 1/n for the last."""

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        place, count = _places(trace)
        mask = trace.batch.mask
        return ((count + 1 - place) / count.clamp_min(1)).masked_fill(~mask, 0.0).to(trace.attention)


class Last(ImportanceMethod):
    """The later a unit stands, the higher its score: from 1/n for the first to 1 for the last."""

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        place, count = _places(trace)
        return (place / count.clamp_min(1)).masked_fill(~trace.batch.mask, 0.0).to(trace.attention)


def _places(trace: Trace) -> tuple[Tensor, Tensor]:
    """Units counted from 1 along the mask [B, L], and how many there are [B, 1]."""
    place = trace.batch.mask.cumsum(1)
    return place, place[:, -1:]
