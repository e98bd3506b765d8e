"""Spans, which are runs of consecutive units, and how well two sets of them match."""

from __future__ import annotations

import torch
from torch import Tensor


def span_f1(chosen: Tensor, marked: Tensor, overlap: float) -> Tensor:
    """[B] F1 of the spans of chosen [B, L] against those of marked [B, L]; NaN where there are none."""
    matches, of_chosen, of_marked = count_spans(chosen, marked, overlap)
    return 2 * matches / (of_chosen + of_marked)


def count_spans(chosen: Tensor, marked: Tensor, overlap: float) -> tuple[Tensor, Tensor, Tensor]:
    """Count [B] the matching spans of chosen [B, L] and marked [B, L], and [B] the spans of each.

    Two spans share at most one run, so the pairs that overlap are the runs of chosen ∧ marked. With an
    overlap of half or more a span has at most one partner: two would fill it completely and so be one
    span.
    """
    shared = chosen & marked
    intersection = _lengths(shared)  # [B, L], at every unit of a run
    union = (_lengths(chosen) + _lengths(marked) - intersection).double()
    matches = _starts(shared) & (intersection / union >= overlap)
    of_matches, of_chosen, of_marked = (
        starts.sum(1).double() for starts in (matches, _starts(chosen), _starts(marked))
    )
    return of_matches, of_chosen, of_marked


def _starts(inside: Tensor) -> Tensor:
    """[B, L] the first unit of every run."""
    before = torch.nn.functional.pad(inside[:, :-1], (1, 0))
    return inside & ~before


def _lengths(inside: Tensor) -> Tensor:
    """Return [B, L] the length of the run that a unit is in; arbitrary outside of runs."""
    columns = inside.shape[1]
    places = torch.arange(columns, device=inside.device).expand_as(inside)
    first = places.masked_fill(~_starts(inside), 0).cummax(1).values
    after = places.masked_fill(inside, columns).flip(1).cummin(1).values.flip(1)  # next unit outside
    return after - first
