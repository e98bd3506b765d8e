"""Counts of unit pairs by how two scores order them, for a whole batch in O(n log² n)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Booleans = np.ndarray[Any, np.dtype[np.bool_]]

SMALLEST = 12  # columns of a block that is compared pair by pair: merging is faster from about this size on


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
    best_balance: Integers  # [B] the same if the values of y were sorted in the order of x


def count_pairs(x: Floats, y: Floats, mask: Booleans) -> Pairs:
    """Count the pairs of units on the mask [B, L]; scores [B, L] tie where they are equal numbers.

    Sorting y in the order of x is best: sgn(x_i − x_j) sgn(y_i − y_j) is supermodular in
    (x_i, y_i), so no exchange of two values of y towards the order of x lowers the balance.
    """
    rows, columns = mask.shape
    whole = bool(mask.all())
    units = np.full(rows, columns) if whole else mask.sum(1)
    total = units * (units - 1) // 2
    scores = np.concatenate([x, y]) if whole else np.where(mask, np.stack([x, y]), np.inf)
    scores = scores.reshape(2 * rows, columns)
    order, ordered = _sorted(scores)
    number = _numbers_in_ties(ordered)  # [2·B, L]
    bits = columns.bit_length()
    narrow = np.int32 if 2 * bits < 32 else np.int64
    flat = np.empty(scores.size, dtype=narrow)
    flat[order] = np.arange(columns, dtype=narrow) - number  # tied values share the lowest
    rank = flat.reshape(2, rows, columns)
    both = np.sort(rank[0] << bits | rank[1], axis=1)  # by x, then by y within ties of x
    discordant = _inversions(both & ((1 << bits) - 1))
    number, number_in_both = number.reshape(2, rows, columns), _numbers_in_ties(both)
    if not whole:
        inside = np.arange(columns) < units[:, None]  # [B, L] the places of sorted units
        number, number_in_both = number * inside, number_in_both * inside
    counted = number.astype(np.float64)  # whole numbers, which floats add up faster
    tied = _whole(counted @ np.ones(columns))  # [2, B]
    tied_in_both = number_in_both.sum(1, dtype=np.int64)
    tied_at_best = number.min(0).sum(1, dtype=np.int64)  # both sorted, a tie in both began at the later start
    triples = 3 * (_whole(np.einsum("xbl,xbl->xb", counted, counted)) - tied)
    untied = total - tied[0] - tied[1]
    return Pairs(
        units=units,
        total=total,
        x=Ties(tied[0], triples[0]),
        y=Ties(tied[1], triples[1]),
        discordant=discordant,
        balance=untied + tied_in_both - 2 * discordant,
        best_balance=untied + tied_at_best,
    )


def _whole(numbers: Floats) -> Integers:
    return numbers.astype(np.int64)


def _sorted(values: Floats) -> tuple[Integers, Floats]:
    """Return the flat positions of each row's values [R, L] in ascending order, and these values.

    Sorting numbers is twice as fast as sorting indices by numbers, so the lowest bits of each value are
    replaced by its column. In the rare row where those bits decide the order, indices are sorted instead.
    """
    columns = values.shape[1]
    start = np.arange(0, values.size, columns)[:, None]
    keys = (values + 0.0).view(np.int64)  # −0 + 0 = 0
    if keys.min(initial=0) < 0:
        keys ^= (keys >> 63) & (2**63 - 1)  # negative floats become integers in the same order
    low = (1 << (columns - 1).bit_length()) - 1
    keys &= ~low
    keys |= np.arange(columns)
    keys.sort(axis=1)
    keys &= low
    order = np.add(keys, start, out=keys)
    ordered = values.ravel().take(order)
    if (ordered[:, 1:] < ordered[:, :-1]).any():
        order = values.argsort(axis=1) + start
        ordered = values.ravel()[order]
    return order, ordered


def _numbers_in_ties(ordered: np.ndarray[Any, Any]) -> Integers:
    """Return [R, L] the number of every sorted value within its tie: 0, 1, ...; few values are tied."""
    rows, columns = ordered.shape
    numbers = np.zeros((rows, columns), dtype=np.int16 if columns < 2**15 else np.int64)
    again = np.zeros((rows, columns), dtype=bool)  # the value before is equal
    np.equal(ordered[:, 1:], ordered[:, :-1], out=again[:, 1:])
    places = np.flatnonzero(again)
    if len(places):
        each = np.arange(len(places))
        begins = np.zeros_like(each)  # of the tie that a place is in
        np.multiply(places[1:] != places[:-1] + 1, each[1:], out=begins[1:])
        numbers.ravel()[places] = each - np.maximum.accumulate(begins) + 1
    return numbers


def _inversions(ranks: Integers) -> Integers:
    """Count [B] the pairs of columns whose ranks are in descending order.

    Blocks of 12 to 24 columns are compared pair by pair, then merged two by two. The low bits of a key
    number its first block: after a merge, the bit of that level says which half it comes from.
    """
    rows, columns = ranks.shape
    merges = max(0, (columns // SMALLEST).bit_length() - 1)
    half = -(-columns >> merges)  # the size of a block, rounded up
    small, large = (np.int16, np.int32) if columns < 2**15 else (np.int32, np.int64)
    padded = np.full((rows, half << merges), columns, dtype=small)  # padding never descends
    padded[:, :columns] = ranks
    across = np.ascontiguousarray(padded.reshape(-1, half).T)  # [half, B·blocks]
    earlier, later = _pairs_of_columns(half)
    descends = across.take(earlier, axis=0) > across.take(later, axis=0)  # [at most 276, B·blocks]
    narrow = np.uint8 if len(earlier) < 2**8 else np.uint16
    count = descends.sum(0, dtype=narrow).reshape(rows, -1).sum(1, dtype=np.int64)
    keys = padded.astype(large) << merges | np.repeat(np.arange(1 << merges, dtype=large), half)
    for level in range(merges):
        merged = keys.reshape(-1, 2 * half)
        merged.sort(axis=-1)
        # unmoved, the right half has places h to 2h − 1; each place forward passes one of the left half
        places = ((merged >> level) & 1).astype(np.float64) @ np.arange(2.0 * half)
        unmoved = half * (3 * half - 1) // 2 << merges - level - 1  # in all blocks of a row
        count += unmoved - places.reshape(rows, -1).sum(1).astype(np.int64)
        half *= 2
    return count


@cache
def _pairs_of_columns(columns: int) -> tuple[Integers, Integers]:
    return np.triu_indices(columns, 1)
