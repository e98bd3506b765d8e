from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from attnx.plugin import DataError, Source, Task, TaskData, read_lines

from .generated import GeneratedStories
from .options import BabiOptions, GeneratedOptions
from .stories import StoryQuestion, to_example, units_of


class _Babi(Task):
    """The parts that the three tasks share.

    A line of a file is "NUMBER SENTENCE", or "NUMBER QUESTION <tab> ANSWER <tab> NUMBERS" with the
    numbers of the sentences that the answer follows from; number 1 starts a new story. Units are the
    words of the sentences before the question, the query is the question, and the label is the answer,
    one of those in the training file. A share of the training stories is used for dev.
    """

    provides: ClassVar[tuple[str, ...]] = ("words", "query", "rationale")
    needs: ClassVar[tuple[str, ...]] = ("reads-query",)
    name: ClassVar[str]
    facts: ClassVar[int]

    def __init__(self, options: BabiOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        fetched = source.fetch("babi")
        files = {split: _find(fetched.folder, f"{self.name}_*{split}*.txt*") for split in ("train", "test")}
        stories = [list(story) for story in _read(files["train"], "train")]
        chosen = np.random.default_rng(self.options.seed).permutation(len(stories))
        for_dev = set(chosen[: max(1, len(stories) * self.options.dev // 100)].tolist())
        splits = {
            "train": [asked for n, story in enumerate(stories) if n not in for_dev for asked in story],
            "dev": [asked for n in sorted(for_dev) for asked in stories[n]],
            "test": [asked for story in _read(files["test"], "test") for asked in story],
        }
        answers = sorted({asked.answer for asked in splits["train"]})
        for asked in (*splits["dev"], *splits["test"]):
            if asked.answer not in answers:
                raise DataError(
                    f"The answer '{asked.answer}' of question {asked.id} does not occur in the training file."
                )
        train, dev, test = (
            tuple(to_example(self._cut(asked), answers, self.options.units) for asked in splits[split])
            for split in ("train", "dev", "test")
        )
        details = {
            "files": ", ".join(path.name for path in files.values()),
            "split": f"dev is {self.options.dev} % of the training stories, seed {self.options.seed}",
        }
        return TaskData(train, dev, test, tuple(answers), provenance={**fetched.provenance, **details})

    def units_of(self, text: str) -> tuple[str, ...]:
        return units_of(text.lower())

    def sample(self) -> TaskData:
        options = GeneratedOptions(facts=self.facts, sentences=10, train=30, dev=12, test=12)
        return GeneratedStories(options).load(Source())

    def _cut(self, asked: StoryQuestion) -> StoryQuestion:
        """Return the question with only the last sentences, if their number is limited."""
        most = self.options.max_sentences
        left_out = max(0, len(asked.sentences) - most) if most else 0
        kept = frozenset(position - left_out for position in asked.supporting if position >= left_out)
        return replace(asked, sentences=asked.sentences[left_out:], supporting=kept)


class BabiOne(_Babi):
    """bAbI task 1: where is a person? The answer follows from one sentence of a story.

    Units are the words of the story, the query is the question; the words of the supporting sentence are
    the rationale. Needs local files (10 000 training and 1 000 test questions) and a model that reads
    queries.
    """

    dataset = "babi"
    name, facts = "qa1", 1


class BabiTwo(_Babi):
    """bAbI task 2: where is an object? The answer follows from two sentences of a story.

    The two sentences say who has the object and where that person is; their words are the rationale.
    Units are the words of the story, the query is the question. Needs local files and a model that reads
    queries.
    """

    dataset = "babi"
    name, facts = "qa2", 2


class BabiThree(_Babi):
    """bAbI task 3: where was an object before? The answer follows from three sentences of a story.

    Units are the words of the story, the query is the question; the words of the three supporting
    sentences are the rationale. Needs local files and a model that reads queries.
    """

    dataset = "babi"
    name, facts = "qa3", 3


def _find(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern)) or sorted(folder.glob(f"**/en-10k/{pattern}"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise DataError(f"'{folder}' must contain one file {pattern}; found {names}.")
    return found[0]


def _read(path: Path, split: str) -> Iterator[list[StoryQuestion]]:
    """The questions of every story of a file."""
    sentences: dict[int, tuple[str, ...]] = {}  # by number
    story: list[StoryQuestion] = []
    for line, text in enumerate(read_lines(path), 1):
        number, _, rest = text.strip().partition(" ")
        if not number.isdecimal() or not rest:
            raise DataError(f"'{path}', line {line}: expected a number, a space and a sentence.")
        if int(number) == 1:
            if story:
                yield story
            sentences, story = {}, []
        question, tab, answer = rest.partition("\t")
        if tab:
            story.append(_asked(question, answer, sentences, f"{split}-{line:06d}", f"'{path}', line {line}"))
        else:
            sentences[int(number)] = _words(rest)
    if story:
        yield story


def _asked(
    question: str, answer: str, sentences: dict[int, tuple[str, ...]], name: str, where: str
) -> StoryQuestion:
    answer, _, numbers = answer.partition("\t")
    positions = {number: position for position, number in enumerate(sentences)}
    supporting = [int(number) for number in numbers.split() if number.isdecimal()]
    missing = [number for number in supporting if number not in positions]
    if missing or not answer.strip():
        wrong = f"sentence {missing[0]} is not before the question" if missing else "the answer is missing"
        raise DataError(f"{where}: {wrong}.")
    if not sentences:
        raise DataError(f"{where}: a question before any sentence.")
    return StoryQuestion(
        id=name,
        sentences=tuple(sentences.values()),
        question=_words(question),
        answer=answer.strip().lower(),
        supporting=frozenset(positions[number] for number in supporting),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.strip().rstrip(".?").strip().lower().split())
