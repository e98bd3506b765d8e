"""Loading a task's data: where its files come from, how it is cut to size and how it is named."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError, PluginError
from ..request.spec import Limit
from .access import Fetched, Source

if TYPE_CHECKING:
    from ..protocols import Task
    from ..types import Example, TaskData


ROWS = 4096  # of an array that are hashed at once

__all__ = ["Fetched", "Source", "fingerprints", "load_data"]


def load_data(task: Task, source: Source, limit: Limit, *, raw_text: bool = False) -> TaskData:
    """Load a task, check it, cut it to the limit and name it by its content.

    With `raw_text` the examples keep their texts as the files have them, and units are their characters.
    """
    data = task.load(replace(source, raw_text=raw_text))
    if not hasattr(data, "label_names"):
        raise PluginError(f"task {type(task).__name__} gave {type(data).__name__}, not its data")
    _check_examples(data, type(task).__name__)
    limited = replace(
        data,
        train=_cut(data.train, limit.train),
        dev=_cut(data.dev, limit.dev),
        test=_cut(data.test, limit.test),
    )
    _check(limited, limit)
    whole, trained_on = fingerprints(limited)
    return replace(limited, fingerprint=whole, training_fingerprint=trained_on, source=source)


def _cut(examples: tuple[Example, ...], most: int | None) -> tuple[Example, ...]:
    """At most that many examples, drawn at random with a fixed seed, in their old order."""
    if most is None or most >= len(examples):
        return examples
    kept = np.random.default_rng(0).choice(len(examples), size=most, replace=False)
    return tuple(examples[row] for row in sorted(kept))


def _check_examples(data: TaskData, task: str) -> None:
    """Refuse examples that cannot be what they say: whoever made them is at fault."""
    for split in ("train", "dev", "test"):
        seen: set[str] = set()
        for example in getattr(data, split):
            _check_kinds(example, f"task {task}: {split}")
            of = f"task {task}: example '{example.id}' of {split}"
            if example.id in seen:
                raise PluginError(f"{of} is there twice; every example needs an id of its own")
            seen.add(example.id)
            if not 0 <= example.label < len(data.label_names):
                raise PluginError(f"{of} has label {example.label} of {len(data.label_names)}")
            for name in ("rationale", "rows", "starts"):
                given = getattr(example, name)
                if given is not None and len(given) != len(example.units):
                    raise PluginError(
                        f"{of} has {len(given)} entries in its {name} for {len(example.units)} units"
                    )
            _check_text(example, of)


def _check_text(example: Example, of: str) -> None:
    """Refuse a text in which the units do not stand where the example says."""
    if (example.text is None) != (example.starts is None):
        raise PluginError(f"{of} has one of text and starts without the other")
    for unit, start in zip(example.units, example.starts or (), strict=False):
        if not (example.text or "").startswith(unit, start):
            raise PluginError(f"{of} has the unit '{unit}', which is not at character {start} of its text")


def _check_kinds(example: Any, of: str) -> None:
    """Refuse what is no example, and one whose parts are not what they are used as."""
    from ..types import Example

    if not isinstance(example, Example):
        raise PluginError(f"{of} holds {type(example).__name__} where there should be an Example")
    label, units = example.label, example.units
    if not isinstance(example.id, str) or isinstance(label, bool) or not isinstance(label, int | np.integer):
        raise PluginError(f"{of} has an example whose id is no text, or whose label is no whole number")
    if not isinstance(units, tuple | list) or not all(isinstance(unit, str) for unit in units):
        raise PluginError(f"{of}: the units of example '{example.id}' are no tuple of texts")


def _check(data: TaskData, limit: Limit) -> None:
    for split in ("train", "dev", "test"):
        if not getattr(data, split):
            raise DataError(
                f"The {split} split is empty; nothing can be trained or measured. "
                "Check the task's files, and its options that leave texts out."
            )
    labels = {example.label for example in data.train}
    if len(labels) < 2:
        raise DataError(
            f"The train split holds a single label, '{data.label_names[labels.pop()]}'; a classifier needs "
            f"at least two. Check the label column{', or raise --limit' if limit.train else ''}."
        )


def fingerprints(data: TaskData) -> tuple[str, str]:
    """Hashes of every example and feature, and of those alone that training sees."""
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
        hashed.update(repr(example).encode())  # without the raw text, which few models read
        if example.text is not None:
            raw = (example.text, example.starts, example.query_text)
            hashed.update(repr(raw).encode("utf-8", "surrogatepass"))
    hashed.update(b"|")


def _add_rows(hashed: hashlib._Hash, array: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> None:
    """These rows of an array, some at a time: all at once they would be in memory twice."""
    hashed.update(f"{array.dtype}{(len(rows), *array.shape[1:])}".encode())
    for start in range(0, len(rows), ROWS):
        hashed.update(np.ascontiguousarray(array[rows[start : start + ROWS]]).tobytes())
