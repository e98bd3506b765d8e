from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import PartlyOracleOptions


class PartlyOracle(ImportanceMethod):
    """An oracle that takes a share of the deciding units for others, drawn at random.

    Of k deciding units share·k are scored 0 and as many others 1, in their place; the rest of
    share·k is rounded up with its own probability, so that the share is exact on average. What a
    smaller share replaces, a larger one replaces too. Where there are too few others, all of them
    are taken.
    """

    needs = ("rationale",)

    def __init__(self, options: PartlyOracleOptions) -> None:
        self.share = options.share
        self.randomness = Randomness(options.seed).to("partly-oracle")  # the same for every share

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        batch = trace.batch
        right = (batch.rationale == 1) & batch.mask  # [B, L]
        others = (batch.rationale == 0) & batch.mask  # [B, L]
        order, rounding = self.randomness.uniform(batch, draws=2).unbind(1)  # [B, L] each
        first = batch.mask.double().argmax(1, keepdim=True)  # [B, 1] a unit whose draw the text can use
        replaced = (self.share * right.sum(1) + rounding.gather(1, first)[:, 0]).floor()  # [B]
        replaced = replaced.minimum(others.sum(1))
        kept = right & ~_lowest(order, right, replaced)
        return (kept | _lowest(order, others, replaced)).to(trace.attention)


def _lowest(values: Tensor, among: Tensor, count: Tensor) -> Tensor:
    """[B, L] True at the `count` [B] lowest values [B, L] of each row among those marked [B, L]."""
    ranks = values.masked_fill(~among, 2.0).argsort(1).argsort(1)  # [B, L]; values are below 1
    return (ranks < count[:, None]) & among
