"""From rows to examples: one flow for all text tasks.

Rows are read one by one, cut into words and filtered by length; what is left is labelled and divided
into splits. Nothing but words is kept of a text, unless the model reads texts as they are written:
then an example keeps its text, and its units are characters of that text. The rules that make words
still decide which texts are used and where a word begins and ends.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from attnx.plugin import DataError, Example, TaskData, group_units, join_words

from .label_names import WHOLE, Labels
from .options import LARGER, TextOptions
from .preprocessing import WordSplitter, splitter_of
from .rationale_values import read_rationale
from .rows import Row, Rows, RowStream, check_characters

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
    text: str | None = None  # as the file has it, where it is to be kept
    starts: tuple[int, ...] | None = None  # of the words in the text
    query_text: str | None = None


@dataclass(slots=True)
class _Pool:
    """What is left of one source, and how much was dropped for which reason."""

    origin: str
    content: str
    shares: tuple[int, int, int]
    kept: deque[_Kept] = field(default_factory=deque)
    dropped: Counter[str] = field(default_factory=Counter)
    total: int = 0
    ids: set[str] = field(default_factory=set)  # of the file's own
    joined: bool = False  # some text is given as words, which had to be joined


def make_data(
    sources: Mapping[str, Rows],
    options: TextOptions,
    labels: Labels | None,
    provenance: Mapping[str, str],
    *,
    raw_text: bool = False,
) -> TaskData:
    """The examples of "train", "dev" and "test", or of "all", which is divided at random.

    Without a dev source, a tenth of train becomes dev. Without `labels` the labels are those found.
    """
    pools = {name: _read(rows, options, labels, raw_text) for name, rows in sources.items()}
    names = _found_labels(pools) if labels is None else _present_labels(pools, labels)
    number_of = {name: number for number, name in enumerate(names)}
    splits: dict[str, list[Example]] = {split: [] for split in SPLITS}
    for name, pool in pools.items():
        share = WITHOUT_DEV if name == "train" and "dev" not in pools else {name: 100}
        share = dict(zip(SPLITS, pool.shares, strict=True)) if name == ALL else share
        split_of = _divide(pool.total, share, options.seed)
        prefix = "row" if name == ALL else name
        while pool.kept:
            kept = pool.kept.popleft()  # its memory is that of the next example
            if kept.label not in number_of:
                raise DataError(
                    f"'{pool.origin}', line {kept.line}: label '{kept.label[:40]}' does not occur in train."
                )
            example = Example(
                id=kept.id or f"{prefix}-{kept.row:06d}",
                units=kept.words,
                label=number_of[kept.label],
                rationale=kept.rationale,
                query=kept.query,
                text=kept.text,
                starts=kept.starts,
                query_text=kept.query_text,
            )
            larger = options.units in LARGER
            splits[split_of[kept.ordinal]].append(group_units(example, options.units) if larger else example)
    return TaskData(
        train=tuple(splits["train"]),
        dev=tuple(splits["dev"]),
        test=tuple(splits["test"]),
        label_names=tuple(names),
        min_count=options.min_count,
        provenance={**provenance, **_account(pools, options)},
        divided=ALL in pools and labels is None,
        notices=_notices(pools, options) if raw_text else (),
    )


def _read(rows: Rows, options: TextOptions, labels: Labels | None, raw_text: bool) -> _Pool:
    """Cut all rows of one source into words and filter them."""
    splitter = splitter_of(options, rows.tokenised)
    pool = _Pool(rows.origin, rows.content, rows.shares)
    with closing(rows.rows) as stream:
        _take(stream, pool, splitter, options, labels, raw_text)
    if options.drop_longest and pool.kept:
        longest = max(len(kept.words) for kept in pool.kept)
        pool.dropped["the longest"] = sum(len(kept.words) == longest for kept in pool.kept)
        pool.kept = deque(kept for kept in pool.kept if len(kept.words) < longest)
    return pool


def _take(
    rows: RowStream,
    pool: _Pool,
    splitter: WordSplitter,
    options: TextOptions,
    labels: Labels | None,
    raw_text: bool,
) -> None:
    """Put the words of every row into the pool, or count why not."""
    for row in rows:
        check_characters(row, pool.origin)
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
        rationale = read_rationale(row, len(words), pool.origin)
        reason = _reason_to_drop(row, words, options, pool.origin)
        if reason:
            pool.dropped[reason] += 1
            continue
        if options.max_length and len(words) > options.max_length:
            words = words[: options.max_length]
            rationale = None if rationale is None else rationale[: options.max_length]
        kept = _Kept(ordinal, row.index, row.line, words, label, rationale, query, row.id)
        if raw_text:
            _keep_text(kept, row, splitter)
            pool.joined |= not isinstance(row.text, str)
        pool.kept.append(kept)


def _keep_text(kept: _Kept, row: Row, splitter: WordSplitter) -> None:
    """Keep the text of a row up to its last word; the words become its own characters."""
    count = len(kept.words)
    if isinstance(row.text, str):
        spans = splitter.locate(row.text)
        kept.text = row.text if count == len(spans) else row.text[: spans[count - 1][1]]
        kept.starts = tuple(start for start, _ in spans[:count])
        kept.words = tuple(sys.intern(row.text[start:end]) for start, end in spans[:count])
    else:
        kept.words = row.text[:count]
        kept.text, kept.starts = join_words(kept.words)
    if row.query is not None:
        kept.query_text = row.query if isinstance(row.query, str) else " ".join(row.query)


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


def _found_labels(pools: Mapping[str, _Pool]) -> tuple[str, ...]:
    """The labels of the source that train comes from, by number or by alphabet."""
    pool = pools.get("train") or next(iter(pools.values()))
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
    pool = pools.get("train") or next(iter(pools.values()))
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


def _notices(pools: Mapping[str, _Pool], options: TextOptions) -> tuple[str, ...]:
    """What the options say that a model which reads texts as they are written does not follow."""
    unused = [
        *(["lower-casing"] if options.lowercase else []),
        *(["qqq in place of numbers"] if options.digits == "qqq" else []),
    ]
    said = []
    if unused:
        said.append(
            f"the model reads the texts as they are written: the task's {' and '.join(unused)} "
            f"{'are' if len(unused) > 1 else 'is'} not applied"
        )
    if any(pool.joined for pool in pools.values()):
        said.append("the files give words, not texts: the model reads them joined by spaces")
    return tuple(said)


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
