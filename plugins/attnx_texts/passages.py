"""From marked words to examples: what all tasks with human rationales share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from attnx.plugin import DataError, Example, TaskData, find_in_order, join_words

from .options import Agreement, RationaleOptions

SPLITS = ("train", "dev", "test")
NOT_LOWERED = "the model reads the texts as they are written: the task's lower-casing is not applied"
Marks = tuple[bool, ...]  # one per word


@dataclass(frozen=True, slots=True)
class Passage:
    """A labelled text as words, with the words that people marked."""

    id: str
    words: tuple[str, ...]
    label: int
    marks: Marks | None  # None: not known
    query: tuple[str, ...] | None = None
    text: str | None = None  # as the file has it; None: the file has words
    query_text: str | None = None


@dataclass(slots=True)
class Account:
    """What was left out or cut off, said in the report."""

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # what, why, split
    sizes: Counter[str] = field(default_factory=Counter)  # of splits, whatever is left out included

    def add(self, split: str, what: str, why: str) -> None:
        """Count something that happened to an example."""
        self.counts[what, why, split] += 1

    def drop(self, split: str, why: str) -> None:
        """Count an example that is not used."""
        self.sizes[split] += 1
        self.add(split, "dropped", why)

    def provenance(self) -> dict[str, str]:
        """One line for each thing that happened."""
        said: dict[str, list[str]] = {}
        for (what, why, split), count in sorted(self.counts.items(), key=lambda item: item[0][:2]):
            said.setdefault(what, []).append(f"{split} {count} of {self.sizes[split]} ({why})")
        return {what: "; ".join(lines) for what, lines in said.items()}


def make_data(
    splits: Mapping[str, Iterable[Passage]],
    label_names: Sequence[str],
    options: RationaleOptions,
    provenance: Mapping[str, str],
    account: Account,
    *,
    raw_text: bool = False,
) -> TaskData:
    """The passages of "train", "dev" and "test" as examples, cut to length.

    An example of which no word is marked has no rationale: nothing is known of it, so a metric that
    needs one is undefined there.
    """
    seen: set[str] = set()
    examples: dict[str, tuple[Example, ...]] = {}
    for split in SPLITS:
        made = []
        for passage in splits[split]:
            if passage.id in seen:
                raise DataError(f"The id '{passage.id}' occurs twice; give every example one of its own.")
            seen.add(passage.id)
            if passage.words:
                example = _example(passage, split, options, account)
                made.append(_with_text(example, passage) if raw_text else example)
            else:
                account.drop(split, "no words")
        examples[split] = tuple(made)
    return TaskData(
        train=examples["train"],
        dev=examples["dev"],
        test=examples["test"],
        label_names=tuple(label_names),
        provenance={**provenance, **account.provenance()},
        notices=(NOT_LOWERED,) if raw_text and options.lowercase else (),
    )


def _example(passage: Passage, split: str, options: RationaleOptions, account: Account) -> Example:
    account.sizes[split] += 1
    most = options.max_length or len(passage.words)
    marks = passage.marks[:most] if passage.marks is not None else ()
    if len(passage.words) > most:
        account.add(split, "truncated", f"longer than {most} words")
    if not any(marks):
        lost = passage.marks is not None and any(passage.marks)
        account.add(split, "without rationale", "cut off" if lost else "nothing marked")
    return Example(
        id=passage.id,
        units=cased(passage.words[:most], options),
        label=passage.label,
        query=None if passage.query is None else cased(passage.query, options),
        rationale=marks if any(marks) else None,
    )


def _with_text(example: Example, passage: Passage) -> Example:
    """The example with its text as the file has it; units are the text's own characters."""
    words = passage.words[: len(example.units)]
    spans = find_in_order(words, passage.text or "")
    text, starts = join_words(words)
    if spans:
        cut = len(words) < len(passage.words)
        text = (passage.text or "")[: spans[-1][1] if cut else None]
        starts = tuple(start for start, _ in spans)
    asked = " ".join(passage.query) if passage.query and not passage.query_text else passage.query_text
    return replace(
        example,
        units=tuple(text[at : at + len(word)] for at, word in zip(starts, words, strict=True)),
        text=text,
        starts=starts,
        query_text=asked,
    )


def cased(words: tuple[str, ...], options: RationaleOptions) -> tuple[str, ...]:
    """The words as units: in small letters unless the options say otherwise."""
    return tuple(word.lower() for word in words) if options.lowercase else words


def agreed(votes: Sequence[Marks], agreement: Agreement) -> Marks | None:
    """The words that enough of the people marked who marked any; None where nobody did."""
    voters = [marks for marks in votes if any(marks)]
    needed = {"any": 1, "majority": len(voters) // 2 + 1, "all": len(voters)}[agreement]
    return tuple(sum(word) >= needed for word in zip(*voters, strict=True)) if voters else None
