"""The fall in probability of the explained class as top units are deleted, or only they are kept."""

import torch
from torch import Tensor

from attnx.formulas import logits_of_kept, ranked
from attnx.plugin import Evidence

from .backgrounds import probabilities_over_backgrounds

ROUNDING = 1e-9  # 7 % of 100 is 7 in spite of floating-point rounding


def set_sizes(mask: Tensor, bins: tuple[float, ...]) -> Tensor:
    """Return [B, T] ⌈share·n⌉, at least 1, for every share in percent of the n units on the mask [B, L]."""
    units = mask.sum(1)  # [B]
    share = torch.tensor(bins, dtype=torch.float64, device=units.device) / 100  # [T]
    return (units[:, None] * share - ROUNDING).ceil().clamp_min(1).long()


def taken(evidence: Evidence, bins: tuple[float, ...]) -> Tensor:
    """Return [B, T, L] the top ⌈share·n⌉ units of the explanation for every share in percent."""
    mask = evidence.trace.batch.mask
    sizes = set_sizes(mask, bins)
    return (ranked(evidence).argsort(1)[:, None] < sizes[..., None]) & mask[:, None]


def probability_falls(evidence: Evidence, deleted: Tensor, draws: int = 0) -> Tensor:
    """Return [B, T] p − p' of the explained class without the columns in `deleted` [B, T, L].

    The model runs again on the rest. With draws, background units replace those columns, and p' is the
    mean over the draws. Without draws, NaN if no unit is left, as there is no output to measure. Columns
    off the mask that are in use, such as start marks, stay. A share that deletes the same units as the
    one before it is not run again.
    """
    trace, batch = evidence.trace, evidence.trace.batch
    target = evidence.explanation.target
    used = torch.arange(batch.mask.shape[1], device=batch.lengths.device) < batch.lengths[:, None]  # [B, L]
    some_left = (batch.mask[:, None] & ~deleted).any(-1) | bool(draws)  # [B, T]
    new = torch.ones_like(some_left)
    new[:, 1:] = (deleted[:, 1:] != deleted[:, :-1]).any(-1)
    rows, shares = (some_left & new).nonzero(as_tuple=True)  # [R], [R]
    p = trace.logits.double().softmax(-1).gather(1, target[:, None])[:, 0]  # [B]
    falls = torch.full(some_left.shape, torch.nan, dtype=torch.float64, device=p.device)
    if len(rows):
        gone = deleted[rows, shares]  # [R, L]
        q = (
            probabilities_over_backgrounds(evidence.model, batch, rows, gone, evidence.random, draws)
            if draws
            else logits_of_kept(evidence.model, batch, rows, used[rows] & ~gone).double().softmax(-1)
        )  # [R, C]
        falls[rows, shares] = p[rows] - q.gather(1, target[rows, None])[:, 0]
    place = torch.arange(new.shape[1], device=p.device).expand_as(new)
    return falls.gather(1, place.masked_fill(~new, 0).cummax(1).values)
