from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace


class Oracle(ImportanceMethod):
    """Ground truth: 1 for the units that decide the label, 0 for the others.

    Units are words, image patches, ...; all scores are 0 if it is not known which units decide. Needs a
    task with rationales and ignores the model.
    """

    needs = ("rationale",)
    target_use = "ignored"

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        batch = trace.batch
        return ((batch.rationale == 1) & batch.mask).to(trace.attention)  # [B, L], NaN == 1 is False


class AntiOracle(ImportanceMethod):
    """Inverted ground truth: 1 for the units that do not decide the label, 0 for those that do.

    Units are words, image patches, ...; all scores are 0 if it is not known which units decide. Needs a
    task with rationales and ignores the model.
    """

    needs = ("rationale",)
    target_use = "ignored"

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        batch = trace.batch
        return ((batch.rationale == 0) & batch.mask).to(trace.attention)  # [B, L], NaN == 0 is False


class NegatedOracle(ImportanceMethod):
    """Ground truth with the wrong sign: −1 for the units that decide the label, 0 for the others.

    Units are words, image patches, ...; all scores are 0 if it is not known which units decide. Needs a
    task with rationales and ignores the model.
    """

    needs = ("rationale",)
    target_use = "ignored"
    signed = True

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        batch = trace.batch
        return -((batch.rationale == 1) & batch.mask).to(trace.attention)  # [B, L], NaN == 1 is False
