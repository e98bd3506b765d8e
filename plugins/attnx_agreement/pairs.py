"""Pairs of units counted by how two scores order them, for a whole batch in O(n log² n)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Booleans = np.ndarray[Any, np.dtype[np.bool_]]

SMALLEST = 8  # block of columns that is compared pair by pair: sorting is faster from about here on


@dataclass(frozen=True, slots=True)
class Ties:
    """Ties in one score; a tie of t units makes t(t − 1)/2 tied pairs."""

    pairs: Integers  # [B] Σ t(t − 1)/2
    triples: Integers  # [B] Σ t(t − 1)(t − 2), counting every order


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of each example's units, under scores x and y."""

    units: Integers  # [B] n
    total: Integers  # [B] n(n − 1)/2
    x: Ties
    y: Ties
    discordant: Integers  # [B] ordered one way by x and the other by y
    balance: Integers  # [B] concordant minus discordant
    best_balance: Integers  # [B] the same, had the values of y been dealt out in the order of x


def count_pairs(x: Floats, y: Floats, mask: Booleans) -> Pairs:
    """Count the pairs of units on the mask [B, L]; scores [B, L] tie where they are equal numbers.

    Dealing out y in the order of x is best: sgn(x_i − x_j) sgn(y_i − y_j) is supermodular in
    (x_i, y_i), so no exchange of two values of y towards the order of x lowers the balance.
    """
    units = mask.sum(1)
    total = units * (units - 1) // 2
    place = np.arange(mask.shape[1])
    inside = place < units[:, None]  # [B, L] where sorted units stand
    x_first, x_rank = _ranks(x, mask)
    y_first, y_rank = _ranks(y, mask)
    bits = mask.shape[1].bit_length()
    both = x_rank << bits | y_rank
    both.sort(axis=1)  # by x, where x ties by y
    x_ties, y_ties = (_ties((place - first) * inside) for first in (x_first, y_first))
    untied = total - x_ties.pairs - y_ties.pairs
    discordant = _inversions(both & ((1 << bits) - 1))
    tied_in_both = ((place - _tie_starts(both)) * inside).sum(1)
    tied_at_best = ((place - np.maximum(x_first, y_first)) * inside).sum(1)
    return Pairs(
        units=units,
        total=total,
        x=x_ties,
        y=y_ties,
        discordant=discordant,
        balance=untied + tied_in_both - 2 * discordant,
        best_balance=untied + tied_at_best,
    )


def _ranks(values: Floats, mask: Booleans) -> tuple[Integers, Integers]:
    """Ranks [B, L] with ties sharing their lowest, in sorted order and in place; padding is last."""
    rows, columns = values.shape
    values = np.where(mask, values, np.inf)
    order = values.argsort(axis=1) + np.arange(0, rows * columns, columns)[:, None]  # into the flat array
    in_order = _tie_starts(values.ravel()[order])
    in_place = np.empty(values.size, dtype=np.int64)
    in_place[order] = in_order
    return in_order, in_place.reshape(values.shape)


def _tie_starts(ordered: np.ndarray[Any, Any]) -> Integers:
    """[B, L] the column at which the tie of each sorted value begins."""
    starts = np.zeros(ordered.shape, dtype=np.int64)
    columns = np.arange(1, ordered.shape[1])
    np.multiply(ordered[:, 1:] != ordered[:, :-1], columns, out=starts[:, 1:])
    return np.maximum.accumulate(starts, axis=1, out=starts)


def _ties(number: Integers) -> Ties:
    """Sums over ties, from every unit's number 0, 1, ... within its own tie [B, L]."""
    pairs = number.sum(1)
    return Ties(pairs=pairs, triples=3 * ((number * number).sum(1) - pairs))


def _inversions(ranks: Integers) -> Integers:
    """[B] pairs of columns whose ranks stand in descending order.

    Blocks of 8 to 16 columns are compared pair by pair, then merged two by two. The low bits of a
    key number its first block: after a merge, the bit of that level says which half it comes from.
    """
    rows, columns = ranks.shape
    merges = max(0, (columns // SMALLEST).bit_length() - 1)
    half = -(-columns >> merges)  # the size of a block, rounded up
    keys = np.full((rows, half << merges), columns, dtype=np.int64)  # padding never descends
    keys[:, :columns] = ranks
    keys = keys << merges | np.repeat(np.arange(1 << merges), half)
    across = np.ascontiguousarray(keys.reshape(-1, half).T)  # [half, B·blocks]
    descents = sum((across[:j] > across[j]).sum(0) for j in range(1, half))
    count = np.reshape(descents, (rows, -1)).sum(1)
    for level in range(merges):
        merged = keys.reshape(-1, 2 * half)
        merged.sort(axis=-1)
        # left alone, the right half takes places h to 2h − 1; each place forward passes one of the left
        places = (merged & 1 << level).astype(np.float64) @ np.arange(2.0 * half) / (1 << level)
        passed = half * (3 * half - 1) // 2 - places.astype(np.int64)  # [B·blocks]
        count += passed.reshape(rows, -1).sum(1)
        half *= 2
    return count
