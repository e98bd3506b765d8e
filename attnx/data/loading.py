"""Loads the data of a task: checks it, applies the limit and computes its fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError, PluginError
from ..escaping import half_character
from ..request.spec import Limit
from .access import Fetched, Source
from .labels import with_classes

if TYPE_CHECKING:
    from ..protocols import Task
    from ..types import Example, TaskData


ROWS = 4096  # rows of an array that are hashed at once

__all__ = ["Fetched", "Source", "fingerprints", "load_data"]


def load_data(
    task: Task,
    source: Source,
    limit: Limit,
    *,
    raw_text: bool = False,
    trains: bool = True,
    classes: Callable[[TaskData], Sequence[str]] | None = None,
) -> TaskData:
    """Load the data of a task, check it, apply the limit and compute its fingerprint.

    Args:
        task: the task.
        source: where its files are found.
        limit: the largest number of examples of each split.
        raw_text: whether examples keep their texts as the files have them, and units are their characters.
        trains: whether a model is trained on it; if not, only test examples are needed.
        classes: of a trained model: gives the names of its classes, which become the labels.
    """
    data = task.load(replace(source, raw_text=raw_text))
    if not hasattr(data, "label_names"):
        raise PluginError(f"Task {type(task).__name__} returned a {type(data).__name__}, not TaskData.")
    _check_examples(data, type(task).__name__)
    if not trains:
        data = _all_for_test(data)
    if classes is not None:
        data = with_classes(data, classes(replace(data, source=source)))
    limited = replace(
        data,
        train=_cut(data.train, limit.train),
        dev=_cut(data.dev, limit.dev),
        test=_cut(data.test, limit.test),
    )
    _check(limited, limit, trains)
    if any(example.text is not None for example in limited.test):
        limited = replace(limited, provenance={**limited.provenance, "texts": "as written"})
    whole, trained_on = fingerprints(limited)
    return replace(limited, fingerprint=whole, training_fingerprint=trained_on, source=source)


def _all_for_test(data: TaskData) -> TaskData:
    """All examples in the test split, if it was not the task's authors who divided them."""
    if not data.divided:
        return data
    examples = sorted((*data.train, *data.dev, *data.test), key=lambda example: example.id)
    told = {key: value for key, value in data.provenance.items() if key != "split"}
    return replace(data, train=(), dev=(), test=tuple(examples), provenance=told)


def _cut(examples: tuple[Example, ...], most: int | None) -> tuple[Example, ...]:
    """At most `most` examples, drawn at random with a fixed seed, in their original order."""
    if most is None or most >= len(examples):
        return examples
    rows = np.random.default_rng(0).choice(len(examples), size=most, replace=False)
    return tuple(examples[row] for row in sorted(rows))


def _check_examples(data: TaskData, task: str) -> None:
    """Refuse inconsistent examples: the plugin of the task is broken."""
    for split in ("train", "dev", "test"):
        seen: set[str] = set()
        for example in getattr(data, split):
            _check_kinds(example, f"Task {task}, split {split}")
            of = f"Task {task}: example '{example.id}' of {split}"
            if example.id in seen:
                raise PluginError(f"{of} occurs twice; each example needs its own id.")
            seen.add(example.id)
            if not 0 <= example.label < len(data.label_names):
                raise PluginError(
                    f"{of} has label {example.label}, but labels are 0 to {len(data.label_names) - 1}."
                )
            for name in ("rationale", "rows", "starts"):
                given = getattr(example, name)
                if given is not None and len(given) != len(example.units):
                    raise PluginError(
                        f"{of} has {len(given)} entries in its {name}, but {len(example.units)} units."
                    )
            _check_text(example, of)
            if any(map(half_character, _texts(example))):
                raise PluginError(
                    f"{of} holds half a character (a lone surrogate), which cannot be stored; write it whole."
                )
    for name in data.label_names:
        if half_character(str(name)):
            raise PluginError(f"Task {task}: the label '{name}' holds half a character (a lone surrogate).")


def _texts(example: Example) -> Iterator[str]:
    """Every text that may be stored of an example."""
    yield example.id
    yield from example.units
    for part in example.query or ():
        yield str(part)
    yield from (text for text in (example.text, example.query_text) if text is not None)


def _check_text(example: Example, of: str) -> None:
    """Refuse an example whose units are not at the stated places of its text."""
    if (example.text is None) != (example.starts is None):
        raise PluginError(f"{of} has only one of text and starts; it needs both or neither.")
    for unit, start in zip(example.units, example.starts or (), strict=False):
        if not (example.text or "").startswith(unit, start):
            raise PluginError(f"{of} has the unit '{unit}', which is not at character {start} of its text.")


def _check_kinds(example: Any, of: str) -> None:
    """Refuse anything that is not an Example, or has fields of the wrong type."""
    from ..types import Example

    if not isinstance(example, Example):
        raise PluginError(f"{of} holds a {type(example).__name__}, not an Example.")
    label, units = example.label, example.units
    if not isinstance(example.id, str) or isinstance(label, bool) or not isinstance(label, int | np.integer):
        raise PluginError(f"{of} has an example whose id is not a string or whose label is not an integer.")
    if not isinstance(units, tuple | list) or not all(isinstance(unit, str) for unit in units):
        raise PluginError(f"{of}: the units of example '{example.id}' are not a tuple of strings.")


def _check(data: TaskData, limit: Limit, trains: bool) -> None:
    for split in ("train", "dev", "test") if trains else ("test",):
        if not getattr(data, split):
            raise DataError(
                f"The {split} split has no examples. "
                "Check the task's files, and its options that filter examples."
            )
    labels = {example.label for example in data.train}
    if trains and len(labels) < 2:
        raise DataError(
            f"All training examples have the label '{data.label_names[labels.pop()]}'; a classifier needs "
            f"at least two labels. Check the label column{', or raise --limit' if limit.train else ''}."
        )


def fingerprints(data: TaskData) -> tuple[str, str]:
    """The hash of all examples and features, and the hash of those that training uses."""
    hashed = hashlib.sha256(repr(data.label_names).encode())
    _add_examples(hashed, data.train)
    _add_examples(hashed, data.dev)
    trained_on = hashed.copy()
    trained_on.update(str(data.min_count).encode())
    rows = sorted({row for split in (data.train, data.dev) for e in split for row in e.rows or ()})
    _add_examples(hashed, data.test)
    for array in (data.features, data.oracle):
        if array is not None:
            _add_rows(hashed, array, np.arange(len(array)))
            _add_rows(trained_on, array, np.array(rows, dtype=int))
    return hashed.hexdigest(), trained_on.hexdigest()


def _add_examples(hashed: hashlib._Hash, examples: tuple[Example, ...]) -> None:
    for example in examples:
        add_example(hashed, example)
    hashed.update(b"|")


def add_example(hashed: hashlib._Hash, example: Example) -> None:
    """Hash everything that an example says."""
    hashed.update(repr(example).encode())  # without the raw text, which few models read
    if example.text is not None:
        raw = (example.text, example.starts, example.query_text)
        hashed.update(repr(raw).encode("utf-8", "surrogatepass"))
    if example.partner is not None:
        hashed.update(repr(example.partner).encode())


def _add_rows(hashed: hashlib._Hash, array: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> None:
    """Hash these rows of an array in parts, so that they are not in memory twice."""
    hashed.update(f"{array.dtype}{(len(rows), *array.shape[1:])}".encode())
    for start in range(0, len(rows), ROWS):
        hashed.update(np.ascontiguousarray(array[rows[start : start + ROWS]]).tobytes())
