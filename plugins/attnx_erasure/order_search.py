"""Searches for the order of units that is best to remove and to keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from attnx.formulas import settled
from attnx.plugin import Batch, RemovalName

from .erasure_curve import set_sizes
from .order_values import Outputs
from .removals import Draws, Removal

MOST_WINDOWS: dict[str, int] = {"delete": 256, "replace": 48}  # tried in the first round
ROUNDING = 1e-6  # of probabilities: scores that are closer are equal, on every processor
BREADTH = 12  # units that are tried again after the first round; the others were far behind


@dataclass(frozen=True, slots=True)
class FirstRound:
    """What each unit does by itself."""

    effect: Tensor  # [B, L] p − p without the unit, with its sign
    score: Tensor  # [B, L] what removing it costs and keeping only it saves; −inf off the mask


SetScores = Callable[[Tensor, Tensor], Tensor]  # of rows [R] and the sets of columns [R, L]: [R]


@dataclass(frozen=True, slots=True)
class FirstTries:
    """What is tried in the first round: single units, or neighbours where there are too many units.

    So the search costs no more than so many passes for a long example.
    """

    mask: Tensor  # [B, L]
    rows: Tensor  # [R] the example of each window
    sets: Tensor  # [R, L] its columns
    number: Tensor  # [B, L] the window of each unit

    @classmethod
    def of(cls, mask: Tensor, removal: RemovalName) -> FirstTries:
        """Cut the units on a mask [B, L] into windows."""
        window = _windows(mask, MOST_WINDOWS[removal])  # [B, L]
        first = mask & (window != torch.nn.functional.pad(window, (1, 0), value=-1)[:, :-1])
        rows, columns = first.nonzero(as_tuple=True)  # [R] each: one row for every window
        sets = (window[rows] == window[rows, columns][:, None]) & mask[rows]  # [R, L]
        return cls(mask, rows, sets, (first.flatten().cumsum(0).view_as(mask) - 1).clamp_min(0))

    def spread(self, values: Tensor, elsewhere: float = 0.0) -> Tensor:
        """[B, L] the value of each unit's window, from [R]."""
        return torch.where(self.mask, values[self.number], elsewhere)


def first_round(removal: Removal, batch: Batch, outputs: Outputs, draws: Draws) -> FirstRound:
    """Try every unit: the output without it, and the output with only it."""
    windows = FirstTries.of(batch.mask, removal.name)
    rows = windows.rows
    scores, without = _scores(removal, batch, outputs, rows, windows.sets, draws)  # [R], [R, D]
    effects = (outputs.p[rows, None] - without).mean(1).nan_to_num()  # [R]
    return FirstRound(windows.spread(effects), windows.spread(scores, -torch.inf))


def _windows(mask: Tensor, most: int) -> Tensor:
    """[B, L] the number of each unit's window: single units, or neighbours where there are too many."""
    units = mask.sum(1, keepdim=True)  # [B, 1]
    width = ((units + most - 1) // most).clamp_min(1)
    window = (mask.cumsum(1) - 1).clamp_min(0) // width
    return window.masked_fill(~mask, -2)


def greedy_order(
    removal: Removal,
    batch: Batch,
    outputs: Outputs,
    bins: tuple[float, ...],
    draws: Draws,
    first: FirstRound,
    breadth: int = BREADTH,
) -> Tensor:
    """[B, L] scores whose order is the best to remove and to keep that a greedy search finds."""

    def score(rows: Tensor, sets: Tensor) -> Tensor:
        return _scores(removal, batch, outputs, rows, sets, draws)[0]

    return best_order(batch.mask, set_sizes(batch.mask, bins), first.score, score, breadth)


def best_order(
    mask: Tensor, sizes: Tensor, first: Tensor, score: SetScores, breadth: int = BREADTH
) -> Tensor:
    """[B, L] scores whose order is the best that a greedy search finds, one set size [B, T] after the other.

    `first` [B, L] has the score of each unit by itself. After each set size the most promising units are
    tried again, each together with what was chosen.
    """
    chosen = torch.zeros_like(mask)
    last = first.clone()  # [B, L] what each unit did when it was tried last
    order = torch.full_like(last, -torch.inf)
    before = torch.zeros_like(sizes[:, 0])
    for number in range(sizes.shape[1]):
        more = sizes[:, number] - before  # [B] units to add
        before = sizes[:, number]
        open_ = mask & ~chosen & (more > 0)[:, None]
        if number and open_.any():
            tried = open_ & (_place(last, open_) < torch.maximum(more + 2, more.new_tensor(breadth))[:, None])
            rows, columns = tried.nonzero(as_tuple=True)
            sets = chosen[rows] | (columns[:, None] == torch.arange(mask.shape[1], device=mask.device))
            last[tried] = score(rows, sets)
            open_ = tried
        taken = open_ & (_place(last, open_) < more[:, None])
        chosen |= taken
        order = torch.where(taken, -float(number), order)
    rest = mask & ~chosen
    ranks = _place(last, mask).double() / (1 + mask.shape[1])  # within a set size, and behind all sets
    order = torch.where(rest, -float(sizes.shape[1]), order)
    return torch.where(mask, order - ranks, order)


def _scores(
    removal: Removal, batch: Batch, outputs: Outputs, rows: Tensor, sets: Tensor, draws: Draws
) -> tuple[Tensor, Tensor]:
    """[R] what removing the columns in `sets` [R, L] costs, minus what is lost by keeping only them.

    The second is the output without them [R, D].
    """
    others = batch.mask[rows] & ~sets
    without, kept = removal.probabilities(torch.cat([rows, rows]), torch.cat([sets, others]), draws).chunk(2)
    fall = outputs.fall(without, rows).mean(1).nan_to_num()
    return fall - outputs.loss(kept, rows).mean(1), without


def _place(scores: Tensor, among: Tensor) -> Tensor:
    """[B, L] the place of each column among those marked, highest score first, equal ones from the left."""
    equal = settled(scores.nan_to_num(neginf=0.0), among, absolute=ROUNDING).masked_fill(~among, -torch.inf)
    return equal.argsort(dim=1, descending=True, stable=True).argsort(1)
