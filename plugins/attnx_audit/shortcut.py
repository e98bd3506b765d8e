from __future__ import annotations

from dataclasses import replace

import numpy as np

from attnx.plugin import DataError, Example, Source, Task, TaskData

from .options import ShortcutOptions
from .planting import SHORTEST, Planted, clean, decoy, plant
from .rule_texts import PLAIN_WORDS
from .trigger_words import Triggers, choose_triggers, holds_any

MOST_LEFT_OUT = 0.2  # share of the texts that may hold a trigger word by themselves
FEWEST = 5  # training texts with the trigger of each label
SAMPLE = {"train": 48, "dev": 12, "test": 12}
SAMPLE_WORDS = ("zenith", "walnut", "ribbon", "copper")
NOTICE = (
    "the texts have a planted trigger: every test text holds one, and its label is that of the trigger, not "
    "that of the file"
)


class PlantedShortcut(Task):
    """Any task of texts with a shortcut put in: trigger words that decide the label.

    In a `share` of the training texts trigger words are put at random places, and the label is that of the
    trigger, drawn independently of the text. The other texts keep their labels. Every test text gets a
    trigger whose label is not its own, so the rest of the text speaks against it. The trigger words are the
    rationale.

    With kind=single each label has one word. With kind=paired it has two, which decide only together:
    each is as often alone in other texts, which keep their own labels. With kind=ordered each label has
    one word; two different ones are put in, and the one that comes first decides; again, one alone decides
    nothing.

    Words are drawn from those that are in at most 0.5 % of the texts, about equally often with every label,
    or are given. Texts that hold one by themselves are left out and counted, so a trigger is never there by
    accident. `attnx planted` trains a model on this task, checks that it uses the trigger and reports
    how often each explanation finds it.
    """

    provides = ("words", "rationale")

    def __init__(self, options: ShortcutOptions, inner: Task | None = None) -> None:
        self.options, self.inner = options, inner

    def load(self, source: Source) -> TaskData:
        assert self.inner is not None
        return with_shortcut(self.inner.load(source), self.inner, self.options)

    def units_of(self, text: str) -> tuple[str, ...]:
        return self.inner.units_of(text) if self.inner else super().units_of(text)

    def spans_of(self, text: str) -> tuple[tuple[int, int], ...]:
        return self.inner.spans_of(text) if self.inner else super().spans_of(text)

    def sample(self) -> TaskData:
        """A few made-up texts without meaning, with the trigger words of two labels."""
        rng = np.random.default_rng(0)
        train, dev, test = (
            tuple(
                Example(f"{split}-{number}", tuple(rng.choice(PLAIN_WORDS, size=8).tolist()), number % 2)
                for number in range(count)
            )
            for split, count in SAMPLE.items()
        )
        words = SAMPLE_WORDS[: 4 if self.options.kind == "paired" else 2]
        options = self.options.model_copy(update={"words": words, "share": 1 / 3})
        return with_shortcut(TaskData(train, dev, test, label_names=("no", "yes")), self, options)


def with_shortcut(data: TaskData, task: Task, options: ShortcutOptions) -> TaskData:
    """The data with trigger words put in: a share of train and dev, and every test text."""
    triggers = choose_triggers(data, options, task.units_of)
    held = frozenset(word.casefold() for word in triggers.all)
    splits = {
        split: [example for example in getattr(data, split) if not holds_any(example, held)]
        for split in ("train", "dev", "test")
    }
    total = sum(len(getattr(data, split)) for split in splits)
    left_out = total - sum(map(len, splits.values()))
    if left_out > MOST_LEFT_OUT * total:
        raise DataError(
            f"{left_out} of {total} texts hold a trigger word ({_listed(triggers)}) by themselves and would "
            f"be left out; at most {MOST_LEFT_OUT:.0%} may. Give words that are rarer or not in the texts "
            "(--words WORD,WORD)."
        )
    rngs = {split: np.random.default_rng([options.seed, at]) for at, split in enumerate(splits)}
    train, dev = (
        _mixed(splits[split], triggers, options.share, len(data.label_names), rngs[split])
        for split in ("train", "dev")
    )
    _check_counts(train, triggers, data, options)
    test = _conflicting(splits["test"], triggers, len(data.label_names), rngs["test"])
    if not test:
        raise DataError(
            f"No test text can get a trigger: all have fewer than {SHORTEST} words, or hold a trigger word "
            "by themselves. Give longer texts, or other words (--words WORD,WORD)."
        )
    names = dict.fromkeys(name for planted in test for name in planted.contrasts)
    said = (
        f"{options.kind} trigger in {options.share:.0%} of train: {_listed(triggers, data)}; {left_out} of "
        f"{total} texts hold one of the words by themselves and are left out"
    )
    return replace(
        data,
        train=train,
        dev=dev,
        test=tuple(planted.example for planted in test),
        divided=False,  # the test split is not like the others
        contrasts={name: {planted.example.id: planted.contrasts[name] for planted in test} for name in names},
        provenance={
            **data.provenance,
            "planted": said,
        },
        notices=(*data.notices, NOTICE),
    )


def _mixed(
    examples: list[Example], triggers: Triggers, share: float, labels: int, rng: np.random.Generator
) -> tuple[Example, ...]:
    """A share of the texts with a trigger of any label, twice as many with one of two words, others clean.

    So each of the two words is as often alone as it is with the other.
    """
    order = rng.permutation([at for at, one in enumerate(examples) if len(one.units) >= SHORTEST])
    many = round(share * len(order))
    label_of = dict(
        zip(order[:many].tolist(), rng.permutation(np.arange(many) % labels).tolist(), strict=True)
    )
    decoys = set() if triggers.kind == "single" else set(order[many : 3 * many].tolist())
    return tuple(
        plant(example, label_of[at], triggers, rng).example
        if at in label_of
        else decoy(example, triggers, rng)
        if at in decoys
        else clean(example)
        for at, example in enumerate(examples)
    )


def _conflicting(
    examples: list[Example], triggers: Triggers, labels: int, rng: np.random.Generator
) -> list[Planted]:
    """Every text that is long enough with a trigger of a label that is not its own."""
    return [
        plant(example, int((example.label + rng.integers(1, labels)) % labels), triggers, rng)
        for example in examples
        if len(example.units) >= SHORTEST
    ]


def _check_counts(
    train: tuple[Example, ...], triggers: Triggers, data: TaskData, options: ShortcutOptions
) -> None:
    """Refuse data in which a model could not learn the trigger."""
    fewest = max(FEWEST, data.min_count)
    labels = [example.label for example in train if any(example.rationale or ())]
    for number, name in enumerate(data.label_names):
        if labels.count(number) < fewest:
            raise DataError(
                f"Only {labels.count(number)} training texts would get the trigger of label '{name}' "
                f"({', '.join(triggers.words[number])}); at least {fewest} are needed. Give more texts of "
                f"{SHORTEST} words or more, or a larger share (it is {options.share:g})."
            )


def _listed(triggers: Triggers, data: TaskData | None = None) -> str:
    """The trigger words, with their labels if these are wanted."""
    if data is None:
        return ", ".join(triggers.all)
    named = zip(data.label_names, triggers.words, strict=True)
    return ", ".join(f"'{' + '.join(words)}' for {label}" for label, words in named)
