from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace


class Oracle(ImportanceMethod):
    """1 for the units that decide the label, 0 for the others.

    0 for all where nothing is known to decide.
    """

    needs = ("rationale",)

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        batch = trace.batch
        return ((batch.rationale == 1) & batch.mask).to(trace.attention)  # [B, L], NaN == 1 is False


class AntiOracle(ImportanceMethod):
    """1 for the units that have nothing to do with the label, 0 for those that decide it.

    0 for all where nothing is known to decide.
    """

    needs = ("rationale",)

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        batch = trace.batch
        return ((batch.rationale == 0) & batch.mask).to(trace.attention)  # [B, L], NaN == 0 is False


class NegatedOracle(ImportanceMethod):
    """−1 for the units that decide the label, 0 for the others: the oracle with the wrong sign.

    0 for all where nothing is known to decide.
    """

    needs = ("rationale",)

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        batch = trace.batch
        return -((batch.rationale == 1) & batch.mask).to(trace.attention)  # [B, L], NaN == 1 is False
