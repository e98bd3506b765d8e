from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace


class First(ImportanceMethod):
    """Scores by position: the first unit highest.

    From 1 for the first unit (word, image patch, ...) to 1/n for the last. An uninformative baseline that
    ignores the model.
    """

    target_use = "ignored"

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        place, count = _places(trace)
        mask = trace.batch.mask
        return ((count + 1 - place) / count.clamp_min(1)).masked_fill(~mask, 0.0).to(trace.attention)


class Last(ImportanceMethod):
    """Scores by position: the last unit highest.

    From 1/n for the first unit (word, image patch, ...) to 1 for the last. An uninformative baseline that
    ignores the model.
    """

    target_use = "ignored"

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        place, count = _places(trace)
        return (place / count.clamp_min(1)).masked_fill(~trace.batch.mask, 0.0).to(trace.attention)


def _places(trace: Trace) -> tuple[Tensor, Tensor]:
    """Return the place of each unit from 1 along the mask [B, L], and the number of units [B, 1]."""
    place = trace.batch.mask.cumsum(1)
    return place, place[:, -1:]
