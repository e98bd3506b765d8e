"""Counts of unit pairs by how two scores order them, for a whole batch in O(n log² n)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Booleans = np.ndarray[Any, np.dtype[np.bool_]]

SMALLEST = 24  # columns of a block that is compared pair by pair: merging is faster from about this size on


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of each example's units, under scores x and y."""

    units: Integers  # [B] n
    total: Integers  # [B] n(n − 1)/2
    tied: Integers  # [2, B] of x and y, Σ t(t − 1)/2 over ties of t units
    triples: Floats  # [2, B] likewise Σ t(t − 1)(t − 2), whole numbers: the triples in ties, in every order
    discordant: Integers  # [B] ordered one way by x and the other by y
    balance: Integers  # [2, B] concordant minus discordant: as they are, and with y sorted in the order of x


def count_pairs(x: Floats, y: Floats, mask: Booleans) -> Pairs:
    """Count the pairs of units on the mask [B, L]; scores [B, L] tie where they are equal numbers.

    Units are put in the order of y and then sorted by x, ties by their place: the ranks of y that are
    then in descending order are the discordant pairs.

    Sorting y in the order of x is best: sgn(x_i − x_j) sgn(y_i − y_j) is supermodular in
    (x_i, y_i), so no exchange of two values of y towards the order of x lowers the balance.
    """
    rows, columns = mask.shape
    whole = bool(mask.all())
    units = np.full(rows, columns) if whole else mask.sum(1)
    total = units * (units - 1) // 2
    if not whole:
        x, y = np.where(mask, np.stack([x, y]), np.inf)
    again = np.zeros(4 * x.size + 1, dtype=bool)  # the value before is equal: of x, y, both, both sorted
    of_x, of_y, of_both, at_best = again[:-1].reshape(4, -1)
    by_y = _sorted(y, of_y)
    by_x = _sorted(x.ravel().take(by_y).reshape(x.shape), of_x)  # places in the order of y
    if not whole:
        inside = (np.arange(columns) < units[:, None]).ravel()  # the places of sorted units
        of_x &= inside
        of_y &= inside
    rank = np.add.accumulate(~of_y, dtype=np.int32).reshape(x.shape)  # tied values share one
    rank = (rank - rank[:, :1]).astype(_narrowest(columns)).ravel().take(by_x)
    np.equal(rank[1:], rank[:-1], out=of_both[1:])
    of_both &= of_x
    np.logical_and(of_x, of_y, out=at_best)
    discordant = _inversions(rank.reshape(x.shape))
    tied, triples = _ties(again, (4, rows), columns)
    balance = (total - tied[0] - tied[1]) + tied[2:]
    balance[0] -= 2 * discordant
    return Pairs(units, total, tied[:2], triples[:2], discordant, balance)


def _sorted(values: Floats, again: Booleans) -> Integers:
    """Return [B·L] the flat positions of each row's values [B, L] in ascending order, also within ties.

    Set `again` [B·L] where the value before is equal. Sorting numbers is twice as fast as sorting
    positions by numbers, so the lowest bits of each value are replaced by its position. In the rare case
    that those bits decide an order, positions are sorted instead.
    """
    columns, flat = values.shape[1], values.ravel()
    keys = (flat + 0.0).view(np.int64)  # −0 + 0 = 0
    if keys.min(initial=0) < 0:
        keys ^= (keys >> 63) & (2**63 - 1)  # negative floats become integers in the same order
    low = (1 << len(keys).bit_length()) - 1
    keys &= ~low
    keys |= np.arange(len(keys))
    keys.reshape(values.shape).sort(axis=1)
    order = keys & low
    np.less_equal((keys[1:] ^ keys[:-1]).view(np.uint64), low, out=again[1:])
    again[::columns] = False
    places = np.flatnonzero(again)
    if (flat.take(order.take(places)) != flat.take(order.take(places - 1))).any():
        order = (values.argsort(axis=1, kind="stable") + np.arange(0, len(flat), columns)[:, None]).ravel()
        ordered = flat.take(order)
        np.equal(ordered[1:], ordered[:-1], out=again[1:])
        again[::columns] = False
    return order


def _ties(again: Booleans, shape: tuple[int, int], columns: int) -> tuple[Integers, Floats]:
    """Return pairs and triples [K, B] in ties; `again` [K·B·L + 1] is where the value before is equal."""
    edges = np.flatnonzero(again[1:] != again[:-1])  # of ties, each without its first value
    starts = edges[::2]
    more = edges[1::2] - starts  # t − 1
    row, twice = starts // columns, more * (more + 1)
    count = shape[0] * shape[1]
    pairs = np.bincount(row, twice // 2, count).astype(np.int64)
    triples = np.bincount(row, twice * (more - 1), count).astype(np.float64)
    return pairs.reshape(shape), triples.reshape(shape)


def _inversions(ranks: Integers) -> Integers:
    """Count [B] the pairs of columns whose ranks are in descending order.

    Blocks of 24 to 48 columns are compared pair by pair, then merged two by two. The low bits of a key
    number its first block: after a merge, the bit of that level says which half it comes from.
    """
    rows, columns = ranks.shape
    merges = max(0, (columns // SMALLEST).bit_length() - 1)
    half = -(-columns >> merges)  # the size of a block, rounded up
    padded = np.full((rows, half << merges), columns, dtype=ranks.dtype)  # padding never descends
    padded[:, :columns] = ranks
    count = _compared(np.ascontiguousarray(padded.reshape(-1, half).T)).reshape(rows, -1).sum(1)
    if not merges:
        return count
    large = np.int32 if columns < 2**15 else np.int64
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


def _compared(across: Integers) -> Integers:
    """Count [M] the pairs of at most 48 rows [h, M] of which the first is the greater.

    The comparisons are added up in bytes, h or h − 1 long rows of them, before they are added up by column.
    """
    size, columns = across.shape
    if size < 2:
        return np.zeros(columns, dtype=np.int64)
    earlier, later = _pairs_of_columns(size)
    descends = across.take(earlier, axis=0) > across.take(later, axis=0)  # [h(h − 1)/2, M]
    part = np.add.reduce(descends.view(np.uint8).reshape(size - 1 + size % 2, -1), 0, dtype=np.uint8)
    return np.add.reduce(part.reshape(-1, columns), 0, dtype=np.int64)


def _narrowest(number: int) -> type[np.unsignedinteger[Any]]:
    """The smallest integers up to this number."""
    return np.uint8 if number < 2**8 else np.uint16 if number < 2**16 else np.uint32


@cache
def _pairs_of_columns(columns: int) -> tuple[Integers, Integers]:
    return np.triu_indices(columns, 1)
