import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import OwenOptions
from .order_contributions import mean_contributions


class Owen(ImportanceMethod):
    """Owen values: Shapley values over a tree of spans, whose units come and go together.

    The tree halves the text again and again down to single units (words, image patches, ...), the first
    half the longer one. φ_i = mean of p(S and i) − p(S) over the sets S that hold, at each level above
    i, the whole neighbouring span or nothing of it; units that are not there have the baseline embedding.
    So a unit is judged among whole spans, not among loose words. `orders` orders see every such set once for
    examples of up to that many units (rounded down to a power of two); longer ones are sampled. Signed:
    positive scores support the class. They add up to p(X) − p(B). Costs one forward pass per unit and order,
    less for LSTMs. The tree knows positions, not grammar.
    """

    def __init__(self, options: OwenOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute
        self.passes = 20.0 * options.orders  # of an example of twenty units

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        return mean_contributions(self._orders, model, trace, target, random, self.options)

    def _orders(self, trace: Trace, random: Randomness) -> Tensor:
        """Return [B, K, L] the place of each column in orders in which every span stays together.

        Whether the halves of a span change places is a bit of the order's number, by the depth of the span,
        turned by a random bit of the span. So K = 2^depth orders meet every combination above a unit once.
        """
        mask = trace.batch.mask
        bits = max(1, self.options.orders.bit_length() - 1)
        number = torch.arange(2**bits if self.options.orders > 1 else 1, device=mask.device)  # [K]
        turned = random.uniform(trace.batch, 64)  # [B, 64, L] by depth, read at the first unit of a span
        index = (mask.cumsum(1) - 1).clamp_min(0)  # [B, L] which unit of its example
        first = torch.zeros_like(index)  # of the span that the unit is in
        size = mask.sum(1, keepdim=True).expand_as(index).clone()  # of that span
        start = torch.zeros(len(mask), len(number), mask.shape[1], dtype=torch.long, device=mask.device)
        depth = 0
        while int(size.max()) > 1:
            half = (size + 1) // 2
            late = (index - first) >= half  # [B, L] in the second half of the span
            column = _column_of(mask, first)
            coin = turned[:, depth % 64].gather(1, column) < 0.5  # [B, L]
            swap = ((number >> (depth % bits)) & 1).bool()[:, None] ^ coin[:, None]  # [B, K, L]
            swap = swap & (size > 1)[:, None]
            before = torch.where(late[:, None], half[:, None], (size - half)[:, None])  # the other half
            moved = torch.where(late[:, None], ~swap, swap) & (size > 1)[:, None]  # comes second
            start = start + torch.where(moved, before, 0)
            first = torch.where(late, first + half, first)
            size = torch.where(late, size - half, half)
            depth += 1
        return start.masked_fill(~mask[:, None], mask.shape[1])


def _column_of(mask: Tensor, unit: Tensor) -> Tensor:
    """[B, L] the column of the units with these numbers [B, L] in their example."""
    order = (~mask).byte().argsort(dim=1, stable=True)  # columns of units first
    return order.gather(1, unit.clamp_max(mask.shape[1] - 1))
