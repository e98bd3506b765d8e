"""The order in which an explanation puts the units of an example, and which of its values are equal."""

from __future__ import annotations

import torch
from torch import Tensor

from ..types import Evidence

# Values that differ by less than this share of the larger one are equal. It is eight roundings of single
# precision. Processors, batches and passes with or without gradients round in other ways, so a smaller
# difference says nothing, and an order that rests on it is another on the next machine.
ROUNDING = 2.0**-20


def ranked(evidence: Evidence) -> Tensor:
    """Order the columns of a batch by the explanation, highest score first.

    Equal scores are put in a random order that belongs to the units: it does not depend on padding or on the
    other examples of the batch.

    Args:
        evidence: the batch and its explanation.

    Returns:
        The columns [B, L], those outside the mask last.
    """
    mask = evidence.trace.batch.mask
    draws = evidence.random.to("ties").uniform(evidence.trace.batch)[:, 0]  # [B, L]
    shuffled = draws.masked_fill(~mask, torch.inf).argsort(1)
    values = evidence.explanation.values.masked_fill(~mask, -torch.inf).gather(1, shuffled)
    return shuffled.gather(1, values.argsort(dim=1, descending=True, stable=True))


def settled(
    values: Tensor, mask: Tensor, rounding: float = ROUNDING, absolute: Tensor | float = 0.0
) -> Tensor:
    """Make values equal that differ only by rounding; each becomes the smallest of its group.

    Args:
        values: the values [B, L].
        mask: the columns that count [B, L]; the others stay as they are.
        rounding: neighbours in order are equal if they differ by no more than this share of the larger one.
        absolute: what each value may have lost to rounding before, a number or [B, L]: a small difference of
            large numbers loses more than its own size shows.

    Returns:
        The values [B, L].
    """
    if values.shape[1] < 2:
        return values
    ordered, order = values.masked_fill(~mask, torch.inf).sort(1)  # NaN is sorted behind all
    lost = (
        torch.as_tensor(absolute, dtype=values.dtype, device=values.device).expand_as(values).gather(1, order)
    )
    lost = torch.maximum(lost, rounding * ordered.abs())
    gap = ordered.diff(dim=1)  # [B, L − 1]
    apart = ~(gap <= torch.maximum(lost[:, 1:], lost[:, :-1])) | ~gap.isfinite()
    place = torch.arange(1, values.shape[1], device=values.device)
    start = torch.nn.functional.pad(place * apart, (1, 0)).cummax(1).values  # [B, L] where a tie begins
    equal = torch.empty_like(values).scatter_(1, order, ordered.gather(1, start))
    return torch.where(mask, equal, values)
