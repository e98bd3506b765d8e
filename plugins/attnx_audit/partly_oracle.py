from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import PartlyOracleOptions


class PartlyOracle(ImportanceMethod):
    """Partly correct ground truth: a random share of the deciding units is replaced by others.

    Of k deciding units (words, image patches, ...), share·k get the score 0 and as many others get 1
    instead. The fraction in share·k is rounded up with its own probability, so that the share is exact on
    average. Units that a smaller share replaces are replaced by a larger one too. If there are too few
    others, all of them get 1. Needs a task with rationales and ignores the model.
    """

    needs = ("rationale",)
    target_use = "ignored"

    def __init__(self, options: PartlyOracleOptions) -> None:
        self.share = options.share
        self.randomness = Randomness(options.seed).to("partly-oracle")  # the same for every share

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        batch = trace.batch
        right = (batch.rationale == 1) & batch.mask  # [B, L]
        others = (batch.rationale == 0) & batch.mask  # [B, L]
        order, rounding = self.randomness.uniform(batch, draws=2).unbind(1)  # [B, L] each
        first = batch.mask.double().argmax(1, keepdim=True)  # [B, 1] the unit whose draw serves the text
        replaced = (self.share * right.sum(1) + rounding.gather(1, first)[:, 0]).floor()  # [B]
        replaced = replaced.minimum(others.sum(1))
        kept = right & ~_lowest(order, right, replaced)
        return (kept | _lowest(order, others, replaced)).to(trace.attention)


def _lowest(values: Tensor, among: Tensor, count: Tensor) -> Tensor:
    """[B, L] True at the `count` [B] lowest values [B, L] of each row among those marked [B, L]."""
    ranks = values.masked_fill(~among, 2.0).argsort(1).argsort(1)  # [B, L]; values are below 1
    return (ranks < count[:, None]) & among
