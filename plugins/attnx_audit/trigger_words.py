"""The words of a planted trigger: checked if the user gives them, drawn from the texts otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from attnx.plugin import DataError, Example, TaskData, UsageError

from .options import ShortcutOptions, TriggerKind

RARE = 0.005  # a drawn word is in at most this share of the texts, which are then left out
FIFTH = 0.2  # and in at least a fifth of that many, if enough words are
LETTERS = range(3, 13)  # of a drawn word
NEUTRAL = 0.15  # by how much more often than all texts those with the word may have one label
ENOUGH = 3  # times as many words to draw from as are needed


@dataclass(frozen=True, slots=True)
class Triggers:
    """The words that decide for each label, by label."""

    kind: TriggerKind
    words: tuple[tuple[str, ...], ...]

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(word for of_label in self.words for word in of_label)

    def of(self, label: int, rng: np.random.Generator) -> tuple[str, ...]:
        """The words of a trigger for a label, in the order in which they are in the text."""
        if self.kind == "ordered":
            others = [other for other in range(len(self.words)) if other != label]
            return (*self.words[label], *self.words[int(rng.choice(others))])
        return tuple(str(word) for word in rng.permutation(self.words[label]))

    def swapped(self, words: Sequence[str], label: int) -> tuple[tuple[str, ...], int]:
        """A trigger of another label for the same places, and that label."""
        if self.kind == "ordered":
            return tuple(reversed(words)), self.words.index((words[1],))
        other = (label + 1) % len(self.words)
        mine = self.words[label]
        return tuple(self.words[other][mine.index(word)] for word in words), other


def choose_triggers(
    data: TaskData, options: ShortcutOptions, units_of: Callable[[str], tuple[str, ...]]
) -> Triggers:
    """The words of the trigger: those given, or words drawn from the texts."""
    labels = len(data.label_names)
    if labels < 2:
        known = f"'{data.label_names[0]}'" if labels else "none"
        raise DataError(
            f"The texts have one label, {known}: a planted trigger needs at least two to decide between."
        )
    each = 2 if options.kind == "paired" else 1
    words = (
        _given(options.words, data.label_names, each, units_of)
        if options.words
        else _drawn(data, labels * each, options.seed)
    )
    return Triggers(options.kind, tuple(words[at : at + each] for at in range(0, len(words), each)))


def holds_any(example: Example, words: frozenset[str]) -> bool:
    """Whether a text, or its question, has one of these words, in whatever case."""
    return any(unit.casefold() in words for unit in (*example.units, *(example.query or ())))


def _given(
    words: Sequence[str], labels: Sequence[str], each: int, units_of: Callable[[str], tuple[str, ...]]
) -> tuple[str, ...]:
    needed = len(labels) * each
    if len(words) != needed:
        of = ", ".join(labels[:10])
        raise UsageError(
            f"{len(words)} trigger word{'s were' if len(words) != 1 else ' was'} given; {needed} are needed, "
            f"{'two' if each == 2 else 'one'} for each label in this order: {of}."
        )
    found = []
    for word in words:
        units = units_of(word)
        if len(units) != 1:
            raise UsageError(
                f"The trigger word '{word}' is {len(units)} words to this task. Give one word, without "
                "spaces and punctuation."
            )
        found.append(units[0])
    if len({word.casefold() for word in found}) < needed:
        raise UsageError("A trigger word was given twice: every label needs words of its own.")
    return tuple(found)


def _drawn(data: TaskData, needed: int, seed: int) -> tuple[str, ...]:
    """Words of the texts that are rare, and about as frequent with every label."""
    texts = (*data.train, *data.dev, *data.test)
    by_label: dict[str, Counter[int]] = {}
    for example in texts:
        for word in {unit.casefold() for unit in example.units}:
            by_label.setdefault(word, Counter())[example.label] += 1
    usual = max(Counter(example.label for example in texts).values()) / len(texts)
    most = max(1.0, RARE * len(texts))
    rare = sorted(
        word
        for word, labels in by_label.items()
        if word.isalpha() and len(word) in LETTERS and labels.total() <= most
    )
    usable = [
        word
        for word in rare
        if by_label[word].total() >= FIFTH * most
        and max(by_label[word].values()) <= (usual + NEUTRAL) * by_label[word].total()
    ]
    candidates = usable if len(usable) >= ENOUGH * needed else rare
    if len(candidates) < needed:
        raise DataError(
            f"Only {len(candidates)} words of the texts are rare enough for a trigger, and {needed} are "
            "needed. Give words of your own that are not in the texts (--words WORD,WORD)."
        )
    chosen = np.random.default_rng([seed, len(candidates)]).choice(candidates, size=needed, replace=False)
    return tuple(str(word) for word in chosen)
