"""From rows to examples: one flow for all text tasks.

Rows are read one by one, cut into words and filtered by length; what is left is labelled and divided
into splits. Nothing but words is kept of a text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from attnx.plugin import DataError, Example, TaskData, did_you_mean

from .label_names import WHOLE
from .options import TextOptions
from .preprocessing import WordSplitter, splitter_of
from .rows import Row, Rows, RowStream

ALL = "all"  # the one source of a dataset that comes undivided
SPLITS = ("train", "dev", "test")
WITHOUT_DEV = {"train": 90, "dev": 10}  # % of train where there is no dev
NUMBER = re.compile(r"[-+]?\d+(\.\d*)?")
MANY = 20  # labels: more than these, for less than two rows each, look like a wrong column


@dataclass(slots=True)
class _Kept:
    """A text as words, not labelled or placed in a split yet."""

    ordinal: int  # among all rows of its source, dropped ones included
    row: int
    line: int
    words: tuple[str, ...]
    label: str
    rationale: tuple[bool, ...] | None
    query: tuple[str, ...] | None
    id: str  # of the file's own; empty where it gives none


@dataclass(slots=True)
class _Pool:
    """What is left of one source, and how much was dropped for which reason."""

    origin: str
    content: str
    shares: tuple[int, int, int]
    kept: list[_Kept] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    total: int = 0
    ids: set[str] = field(default_factory=set)  # of the file's own


@dataclass(frozen=True, slots=True)
class Labels:
    """The classes of a dataset, and those of them that are used; rows of the others are passed over.

    Where none is said to be used, those are that train has, and a row of another is an error.
    """

    known: tuple[str, ...]
    used: tuple[str, ...] = ()
    advice: str = ""  # for files that lack a class

    def name(self, given: str, origin: str, line: int) -> str:
        """The class meant by a name, or by a number from 0 on."""
        if given in self.known:
            return given
        if WHOLE.fullmatch(given) and 0 <= int(given) < len(self.known):
            return self.known[int(given)]
        names = ", ".join(f"{number} {name}" for number, name in enumerate(self.known))
        raise DataError(
            f"'{origin}', line {line}: unknown label '{given[:40]}'.{did_you_mean(given, self.known)} "
            f"Labels: {names}."
        )


def make_data(
    sources: Mapping[str, Rows], options: TextOptions, labels: Labels | None, provenance: Mapping[str, str]
) -> TaskData:
    """The examples of "train", "dev" and "test", or of "all", which is divided at random.

    Without a dev source, a tenth of train becomes dev. Without `labels` the labels are those found.
    """
    pools = {name: _read(rows, options, labels) for name, rows in sources.items()}
    names = _found_labels(pools) if labels is None else _present_labels(pools, labels)
    number_of = {name: number for number, name in enumerate(names)}
    splits: dict[str, list[Example]] = {split: [] for split in SPLITS}
    for name, pool in pools.items():
        share = WITHOUT_DEV if name == "train" and "dev" not in pools else {name: 100}
        share = dict(zip(SPLITS, pool.shares, strict=True)) if name == ALL else share
        split_of = _divide(pool.total, share, options.seed)
        prefix = "row" if name == ALL else name
        for kept in pool.kept:
            if kept.label not in number_of:
                raise DataError(
                    f"'{pool.origin}', line {kept.line}: label '{kept.label[:40]}' does not occur in train."
                )
            splits[split_of[kept.ordinal]].append(
                Example(
                    id=kept.id or f"{prefix}-{kept.row:06d}",
                    units=kept.words,
                    label=number_of[kept.label],
                    rationale=kept.rationale,
                    query=kept.query,
                )
            )
    return TaskData(
        train=tuple(splits["train"]),
        dev=tuple(splits["dev"]),
        test=tuple(splits["test"]),
        label_names=tuple(names),
        min_count=options.min_count,
        provenance={**provenance, **_account(pools, options)},
    )


def _read(rows: Rows, options: TextOptions, labels: Labels | None) -> _Pool:
    """Cut all rows of one source into words and filter them."""
    splitter = splitter_of(options, rows.tokenised)
    pool = _Pool(rows.origin, rows.content, rows.shares)
    with closing(rows.rows) as stream:
        _take(stream, pool, splitter, options, labels)
    if options.drop_longest and pool.kept:
        longest = max(len(kept.words) for kept in pool.kept)
        pool.dropped["the longest"] = sum(len(kept.words) == longest for kept in pool.kept)
        pool.kept = [kept for kept in pool.kept if len(kept.words) < longest]
    return pool


def _take(
    rows: RowStream, pool: _Pool, splitter: WordSplitter, options: TextOptions, labels: Labels | None
) -> None:
    """Put the words of every row into the pool, or count why not."""
    for row in rows:
        label = row.label if labels is None else labels.name(row.label, pool.origin, row.line)
        if labels is not None and labels.used and label not in labels.used:
            continue
        if row.id in pool.ids:
            raise DataError(f"'{pool.origin}', line {row.line}: the id '{row.id[:40]}' occurs twice.")
        pool.ids.update([row.id] if row.id else [])
        ordinal = pool.total
        pool.total += 1
        words = _words(row.text, splitter)
        query = None if row.query is None else _words(row.query, splitter)
        if query == ():
            raise DataError(f"'{pool.origin}', line {row.line}: the query holds no word.")
        rationale = _rationale(row, len(words), pool.origin)
        reason = _reason_to_drop(row, words, options, pool.origin)
        if reason:
            pool.dropped[reason] += 1
            continue
        if options.max_length and len(words) > options.max_length:
            words = words[: options.max_length]
            rationale = None if rationale is None else rationale[: options.max_length]
        pool.kept.append(_Kept(ordinal, row.index, row.line, words, label, rationale, query, row.id))


def _words(text: str | tuple[str, ...], splitter: WordSplitter) -> tuple[str, ...]:
    return splitter.split(text) if isinstance(text, str) else splitter.take(text)


def _reason_to_drop(row: Row, words: Sequence[str], options: TextOptions, origin: str) -> str:
    """Why a text is not used, or nothing; a text that must not be dropped is an error."""
    if not words and options.empty == "refuse":
        what = "is empty" if not row.text else "holds no word"
        raise DataError(f"'{origin}', line {row.line}: the text {what}; remove the row, or set empty=drop.")
    if len(words) < options.min_length:
        return f"shorter than {options.min_length} words"
    if 0 < options.max_length < len(words) and options.too_long != "truncate":
        if options.too_long == "refuse":
            raise DataError(
                f"'{origin}', line {row.line}: the text has {len(words)} words, more than "
                f"max_length={options.max_length}; raise it (0: no limit), or set too_long=truncate or drop."
            )
        return f"longer than {options.max_length} words"
    return ""


def _rationale(row: Row, count: int, origin: str) -> tuple[bool, ...] | None:
    """One truth value for every word, from 0s and 1s or from [start, end) positions."""
    given: Any = row.rationale
    if given is None:
        return None
    where = f"'{origin}', line {row.line}: the rationale"
    if not isinstance(given, list):
        raise DataError(f"{where} must be a list of 0 and 1, or of [start, end) positions.")
    if given and all(isinstance(group, list) and all(map(_is_span, group)) for group in given):
        given = [span for group in given for span in group]  # spans in groups, as ERASER has them
    if all(isinstance(value, int) and value in (0, 1) for value in given) and given:
        if len(given) != count:
            raise DataError(
                f"{where} has {len(given)} values for {count} words; give one a word, and split words by "
                "spaces (tokenise=spaces) or give the text as a list."
            )
        return tuple(bool(value) for value in given)
    marked = np.zeros(count, dtype=bool)
    for span in given:
        if not _is_span(span):
            raise DataError(
                f"{where} must be a list of 0 and 1, or of [start, end) positions; it has {span!r}."
            )
        start, end = span
        if not 0 <= start < end <= count:
            raise DataError(f"{where} has [{start}, {end}], which is not within its {count} words.")
        marked[start:end] = True
    return tuple(marked.tolist())


def _is_span(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(place) is int for place in value)


def _found_labels(pools: Mapping[str, _Pool]) -> tuple[str, ...]:
    """The labels of the source that train comes from, by number or by alphabet."""
    pool = pools.get("train") or pools[ALL]
    lines: dict[str, int] = {}  # where each label occurs first
    for kept in pool.kept:
        lines.setdefault(kept.label, kept.line)
    names = set(lines)
    if len(names) > MANY and 2 * len(names) > len(pool.kept):
        raise DataError(
            f"'{pool.origin}' has {len(names)} labels for {len(pool.kept)} texts; "
            "the label may be elsewhere: set label=NAME."
        )
    _refuse_two_spellings(lines, pool.origin)
    if all(map(WHOLE.fullmatch, names)):
        return tuple(sorted(names, key=int))
    return tuple(sorted(names))


def _refuse_two_spellings(lines: Mapping[str, int], origin: str) -> None:
    """No number may be two labels, as 0 and 0.0 would be."""
    spelled: dict[Decimal, str] = {}
    for name, line in lines.items():
        if NUMBER.fullmatch(name):
            first = spelled.setdefault(Decimal(name), name)
            if first != name:
                raise DataError(
                    f"'{origin}', line {line}: label '{name[:40]}' is the number that line {lines[first]} "
                    f"spells '{first[:40]}'; spell both alike."
                )


def _present_labels(pools: Mapping[str, _Pool], labels: Labels) -> tuple[str, ...]:
    """The labels that are used; each must have an example to learn from."""
    pool = pools.get("train") or pools[ALL]
    found = {kept.label for kept in pool.kept}
    if not labels.used:
        return tuple(name for name in labels.known if name in found)
    missing = set(labels.used) - found
    if missing:
        names = ", ".join(name for name in labels.used if name in missing)
        raise DataError(
            f"'{pool.origin}' has no text of class {names} among the {len(pool.kept)} that are used of "
            f"{pool.total}.{labels.advice}"
        )
    return labels.used


def _divide(count: int, shares: Mapping[str, int], seed: int) -> list[str]:
    """The split of every row: drawn at random, the same whatever is filtered out afterwards."""
    splits = [next(iter(shares))] * count
    order = np.random.default_rng(seed).permutation(count).tolist()
    for split, percent in list(shares.items())[1:]:
        size = max(1, count * percent // 100)
        for ordinal in order[:size]:
            splits[ordinal] = split
        order = order[size:]
    return splits


def _account(pools: Mapping[str, _Pool], options: TextOptions) -> dict[str, str]:
    """How the data was divided and what was left out, for the report."""
    said = {}
    if ALL in pools:
        shares = "/".join(map(str, pools[ALL].shares))
        said["split"] = f"{shares} % of {pools[ALL].content} at random, seed {options.seed}"
    elif "dev" not in pools:
        said["split"] = f"dev is 10 % of the train rows at random, seed {options.seed}"
    dropped = []
    for name, pool in pools.items():
        if pool.dropped.total():
            reasons = ", ".join(
                f"{count} {reason}" for reason, count in sorted(pool.dropped.items()) if count
            )
            dropped.append(f"{name} {pool.dropped.total()} of {pool.total} ({reasons})")
    if dropped:
        said["dropped"] = "; ".join(dropped)
    return said
