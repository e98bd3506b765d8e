from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np

from attnx.plugin import DataError, Example, Source, Task, TaskData, did_you_mean, read_json_lines

from .minimal_pairs_options import MinimalPairsOptions
from .own_files import files_given, find_own_file, provenance_of
from .preprocessing import WordSplitter
from .rows import check_label

ALL = "all"
SPLITS = ("train", "dev", "test")
PERCENT = {"train": 80, "dev": 10, "test": 10}  # of the pairs of a single file
WITHOUT_DEV = {"train": 90, "dev": 10}
SAMPLE = (
    ("the film was {} from start to end", "vivid", "dull"),
    ("my neighbour called the book {} and underlined it twice", "tender", "clumsy"),
    ("a {} evening , as we said on the way home", "witty", "stale"),
    ("the second half is {} once more", "graceful", "hollow"),
)
TIMES = "monday tuesday wednesday thursday friday saturday sunday".split()


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two texts that differ in some words, and their labels."""

    where: str
    texts: tuple[str, str]
    labels: tuple[str, str]


class MinimalPairs(Task):
    """Pairs of texts that differ only in the words that decide: a JSON-lines file, a pair on each line.

    A line is {"texts": ["a fine film", "a dull film"], "labels": ["positive", "negative"]}. The words that
    differ are found by comparing the two texts word by word, and are the rationale of both; a word that
    only one text has marks nothing in the other. Both texts of a pair are in the same split. A single file
    is divided 80/10/10 at random by pairs; for a model that is trained already, all of it is tested.

    `plausibility` and `focus` measure whether an explanation points at the words that differ, and
    `pair-movement` whether its scores change with them.
    """

    provides = ("words", "rationale", "pairs")

    def __init__(self, options: MinimalPairsOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        paths = {
            split: find_own_file(path, source)
            for split, path in files_given(self.options, "minimal-pairs").items()
        }
        pairs = {split: list(_read(path, self.options)) for split, path in paths.items()}
        divided = _divided(pairs, self.options.seed)
        names = _label_names(divided["train"] or divided["test"])
        splits = {
            split: tuple(
                example
                for number, pair in enumerate(found)
                for example in self._examples(pair, f"{split}-{number:06d}", names, source.raw_text)
            )
            for split, found in divided.items()
        }
        said = {"kind": "local", **provenance_of(paths)}
        if ALL in pairs:
            said["split"] = f"80/10/10 % of the pairs at random, seed {self.options.seed}"
        train, dev, test = (splits[split] for split in SPLITS)
        return TaskData(train, dev, test, label_names=names, provenance=said, divided=ALL in pairs)

    def units_of(self, text: str) -> tuple[str, ...]:
        return self._splitter.split(text)

    def spans_of(self, text: str) -> tuple[tuple[int, int], ...]:
        return self._splitter.locate(text)

    def sample(self) -> TaskData:
        """A few made-up pairs."""
        names = ("negative", "positive")
        made: dict[str, tuple[Example, ...]] = {}
        for split, days in zip(SPLITS, (TIMES[:4], TIMES[4:5], TIMES[5:]), strict=True):
            made[split] = tuple(
                example
                for day in days
                for number, (frame, good, bad) in enumerate(SAMPLE)
                for example in self._examples(
                    _Pair(
                        "sample",
                        (f"on {day} {frame.format(good)}", f"on {day} {frame.format(bad)}"),
                        ("positive", "negative"),
                    ),
                    f"{split}-{day}-{number}",
                    names,
                    raw_text=False,
                )
            )
        train, dev, test = (made[split] for split in SPLITS)
        source = {"source": "a sample of made-up pairs"}
        return TaskData(train, dev, test, label_names=names, provenance=source)

    @property
    def _splitter(self) -> WordSplitter:
        return WordSplitter("words", digits="keep", lowercase=self.options.lowercase)

    def _examples(
        self, pair: _Pair, name: str, label_names: Sequence[str], raw_text: bool
    ) -> tuple[Example, Example]:
        """Both texts as examples: what differs is marked, and each knows the other."""
        splitter = self._splitter
        first, second = (splitter.split(text) for text in pair.texts)
        if not first or not second:
            raise DataError(f"{pair.where}: a text holds no word.")
        marks = differing_words(first, second)
        if not any(marks[0]) and not any(marks[1]):
            raise DataError(f"{pair.where}: the two texts have the same words.")
        if all(marks[0]) or all(marks[1]):
            raise DataError(
                f"{pair.where}: the two texts have no word in common; they are not a minimal pair."
            )
        made = []
        for number, (text, units, marked, label) in enumerate(
            zip(pair.texts, (first, second), marks, pair.labels, strict=True), start=1
        ):
            if label not in label_names:
                raise DataError(f"{pair.where}: label '{label[:40]}' does not occur in train.")
            example = Example(f"{name}-{number}", units, label_names.index(label), rationale=marked)
            if raw_text:
                spans = splitter.locate(text)
                example = replace(
                    example,
                    units=tuple(text[start:end] for start, end in spans),
                    text=text,
                    starts=tuple(start for start, _ in spans),
                )
            made.append(example)
        return replace(made[0], partner=made[1]), replace(made[1], partner=made[0])


def differing_words(first: Sequence[str], second: Sequence[str]) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """For each word of two texts whether it is not part of what both have in the same order."""
    marks = [True] * len(first), [True] * len(second)
    for block in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
        for at in range(block.size):
            marks[0][block.a + at] = marks[1][block.b + at] = False
    return tuple(marks[0]), tuple(marks[1])


def _read(path: Path, options: MinimalPairsOptions) -> Iterator[_Pair]:
    with closing(read_json_lines(path)) as lines:
        for number, found in lines:
            where = f"'{path}', line {number}"
            texts = _two(found, options.texts, where)
            labels = _two(found, options.labels, where)
            if labels[0] == labels[1]:
                raise DataError(f"{where}: both texts have the label '{labels[0][:40]}'; they must differ.")
            yield _Pair(where, texts, (check_label(labels[0], where), check_label(labels[1], where)))


def _two(found: dict[str, Any], key: str, where: str) -> tuple[str, str]:
    """The two strings under a key; labels may be whole numbers."""
    if key not in found:
        keys = ", ".join(f"'{other}'" for other in found) or "none"
        raise DataError(f"{where}: there is no key '{key}'.{did_you_mean(key, found)} Keys: {keys}.")
    value = found[key]
    if not isinstance(value, list) or len(value) != 2:
        raise DataError(f'{where}: \'{key}\' must be a list of two, e.g. ["a fine film", "a dull film"].')
    if not all(
        isinstance(one, str | int) and not isinstance(one, bool) and str(one).strip() for one in value
    ):
        raise DataError(f"{where}: '{key}' must hold two strings that are not empty.")
    return str(value[0]).strip(), str(value[1]).strip()


def _label_names(pairs: Sequence[_Pair]) -> tuple[str, ...]:
    names = {label for pair in pairs for label in pair.labels}
    if all(name.lstrip("-").isdigit() for name in names):
        return tuple(sorted(names, key=int))
    return tuple(sorted(names))


def _divided(pairs: dict[str, list[_Pair]], seed: int) -> dict[str, list[_Pair]]:
    """The pairs of every split; a single file, or train without dev, is divided at random."""
    found = {split: pairs.get(split, []) for split in SPLITS}
    whole = ALL if ALL in pairs else "train"
    if ALL not in pairs and "dev" in pairs:
        return found
    among = pairs.get(whole, [])
    order = np.random.default_rng(seed).permutation(len(among)).tolist()
    for split, percent in (PERCENT if whole == ALL else WITHOUT_DEV).items():
        if split != "train":
            size = max(1, len(among) * percent // 100) if among else 0
            found[split] = [among[at] for at in sorted(order[:size])]
            order = order[size:]
    found["train"] = [among[at] for at in sorted(order)]
    return found
