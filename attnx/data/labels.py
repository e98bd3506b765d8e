"""The labels of a task in the order of the classes that a trained model has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from ..types import Example, TaskData

NAMELESS = re.compile(r"(label|class)?[_ -]?\d+", re.IGNORECASE)  # LABEL_0, as transformers names classes


def with_classes(data: TaskData, classes: Sequence[str]) -> TaskData:
    """The data with the classes of a model as its labels, matched by name, or by number.

    Raises:
        UsageError: a label is not the name or the number of a class.
    """
    number_of = {name.casefold(): number for number, name in enumerate(classes)}
    found = [number_of.get(label.casefold()) for label in data.label_names]
    if None in found and all(label.isdecimal() for label in data.label_names):
        found = [int(label) if int(label) < len(classes) else None for label in data.label_names]
    nameless = all(NAMELESS.fullmatch(name) for name in classes)
    if None in found and nameless and len(classes) == len(data.label_names):
        return data  # in the order of the task: nothing else is known
    if None in found:
        raise UsageError(
            f"The model has the classes {_listed(classes)}, and the task has the labels "
            f"{_listed(data.label_names)}: use the names of the classes as labels, or their numbers from 0."
        )
    numbers = [number for number in found if number is not None]

    def renumbered(examples: tuple[Example, ...]) -> tuple[Example, ...]:
        return tuple(replace(example, label=numbers[example.label]) for example in examples)

    return replace(
        data,
        train=renumbered(data.train),
        dev=renumbered(data.dev),
        test=renumbered(data.test),
        label_names=tuple(classes) if not nameless else _named(classes, data.label_names, numbers),
    )


def _named(classes: Sequence[str], labels: Sequence[str], numbers: Sequence[int]) -> tuple[str, ...]:
    """Names of classes without names of their own: those of the task where it has one."""
    names = dict(zip(numbers, labels, strict=True))
    return tuple(names.get(number, name) for number, name in enumerate(classes))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:10]) + (", ..." if len(names) > 10 else "")
