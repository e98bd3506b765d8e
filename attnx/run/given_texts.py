"""Texts that a user gives, as examples of a task, or of a model without a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from ..data.access import Source
from ..data.unit_groups import UnitsOfText, group_units
from ..errors import UsageError, did_you_mean
from ..escaping import half_character
from ..protocols import Task
from ..request.plan import Plan
from ..types import Example, TaskData


class UnlabelledTexts:
    """The task of a complete classifier: it has no examples, and only says what the words of a text are."""

    needs: ClassVar[tuple[str, ...]] = ()
    provides: ClassVar[tuple[str, ...]] = ("words",)
    dataset: ClassVar[str] = ""

    def __init__(self, splitter: Task) -> None:
        self._splitter = splitter

    def load(self, source: Source) -> TaskData:
        """No examples and no labels: the classes are those of the model."""
        return TaskData(train=(), dev=(), test=(), label_names=(), source=source)

    def units_of(self, text: str) -> tuple[str, ...]:
        """The words of a text."""
        return self._splitter.units_of(text)

    def spans_of(self, text: str) -> tuple[tuple[int, int], ...]:
        """Where the words of a text are in it."""
        return self._splitter.spans_of(text)


def examples_of(
    plan: Plan, data: TaskData, texts: Sequence[str], queries: Sequence[str | None]
) -> list[Example]:
    """Split texts, and their questions, into words like those of the task."""
    if "words" not in plan.task.provides:
        raise UsageError(
            f"Task '{plan.task.label}' is not made of words: explain one of its examples by id instead."
        )
    if not texts:
        raise UsageError("The list of texts is empty.")
    task = plan.task.make()
    asks = any(example.query is not None for example in (*data.train[:1], *data.test[:1]))
    return [
        _example(task, plan.reads_raw_text, asks, text, query, f"Text {number} of {len(texts)}")
        for number, (text, query) in enumerate(zip(texts, queries, strict=True), start=1)
    ]


def _example(
    task: Task, reads_raw_text: bool, asks: bool, text: str, query: str | None, which: str
) -> Example:
    if not isinstance(text, str):
        raise UsageError(f"{which} is not a string but {type(text).__name__}.")
    if half_character(text) or half_character(query or ""):
        raise UsageError(f"{which} holds half a character (a lone surrogate); write all of it.")
    units = task.units_of(text)
    if not units:
        raise UsageError("The text is empty." if which.endswith(" 1 of 1") else f"{which} is empty.")
    if asks != (query is not None):
        raise UsageError(
            "Every text of this task comes with a question: give one with --query."
            if asks
            else "The texts of this task come without a question: leave the query out."
        )
    asked = None if query is None else task.units_of(query)
    spans = task.spans_of(text) if reads_raw_text else ()
    if len(spans) != len(units):
        return Example("", units, 0, query=asked)
    return Example(
        "",
        tuple(text[start:end] for start, end in spans),
        0,
        query=asked,
        text=text,
        starts=tuple(start for start, _ in spans),
        query_text=query,
    )


def in_units(plan: Plan, examples: Sequence[Example], units: UnitsOfText) -> list[Example]:
    """Examples whose units are sentences or paragraphs, for a model that reads texts as they are."""
    if not plan.reads_raw_text:
        raise UsageError(
            f"--units {units} needs a model that reads texts as they are written, such as hf-classifier or "
            f"hf-causal; {plan.model.title} reads single words."
        )
    return [group_units(example, units) for example in examples]


def find_example(data: TaskData, id_: str) -> Example:
    """The example of a task by its id."""
    for split in (data.test, data.dev, data.train):
        for example in split:
            if example.id == id_:
                return example
    ids = [example.id for example in data.test]
    if not ids:
        raise UsageError(f"No example '{id_}': the model is given without a task, so it has no examples.")
    raise UsageError(
        f"No example '{id_}' in this task.{did_you_mean(id_, ids)} Its test split has {len(ids)}, from "
        f"'{ids[0]}' to '{ids[-1]}'."
    )


def unknown_words(plan: Plan, data: TaskData, examples: Sequence[Example]) -> list[tuple[str, ...]]:
    """For every example its words that are not in the training texts, if the model knows only those."""
    if not plan.trains or "words" not in plan.task.provides or "unseen-words" in plan.model.provides:
        return [() for _ in examples]
    known = {word for other in data.train for word in _words(other)}
    return [tuple(dict.fromkeys(word for word in _words(one) if word not in known)) for one in examples]


def _words(example: Example) -> Iterator[str]:
    """The words of a text and its query; a unit may hold several."""
    return (word for unit in (*example.units, *(example.query or ())) for word in unit.split())
