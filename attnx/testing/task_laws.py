"""The laws of tasks, tested on their samples."""

from __future__ import annotations

from ..data.loading import fingerprints
from ..protocols import Task
from ..types import Example, TaskData
from .laws import law, require


def _splits(data: TaskData) -> list[tuple[str, tuple[Example, ...]]]:
    return [("train", data.train), ("dev", data.dev), ("test", data.test)]


def _examples(task: Task) -> list[Example]:
    return [example for _, split in _splits(task.sample()) for example in split]


@law("task")
def sample(task: Task) -> None:
    """The sample of the task has examples in every split, and every label occurs in train."""
    data = task.sample()
    for name, split in _splits(data):
        require(len(split) > 0, f"the sample's {name} split is empty")
    labels = {example.label for example in data.train}
    require(labels == set(range(len(data.label_names))), f"train has labels {sorted(labels)}")


@law("task")
def labels(task: Task) -> None:
    """Labels are indices of label_names."""
    count = len(task.sample().label_names)
    for example in _examples(task):
        require(0 <= example.label < count, f"example {example.id} has label {example.label} of {count}")


@law("task")
def unique_ids(task: Task) -> None:
    """Ids are unique over all splits."""
    ids = [example.id for example in _examples(task)]
    require(len(set(ids)) == len(ids), "an id occurs twice")


@law("task")
def one_per_unit(task: Task) -> None:
    """The rationale (marked units) and the feature rows have one entry per unit."""
    for example in _examples(task):
        for name, values in (("rationale", example.rationale), ("rows", example.rows)):
            fits = values is None or len(values) == len(example.units)
            require(fits, f"example {example.id}: {name} does not have one entry per unit")


@law("task")
def provided(task: Task) -> None:
    """The examples have what the task declares in provides."""
    data = task.sample()
    for example in _examples(task):
        if "rationale" in task.provides:
            require(example.rationale is not None, f"example {example.id} has no rationale")
        if "query" in task.provides:
            require(example.query is not None, f"example {example.id} has no query")
    if "features" in task.provides:
        require(data.features is not None, "the task declares features and has none")


@law("task")
def repeatable(task: Task) -> None:
    """Two calls of `sample` give the same data."""
    require(fingerprints(task.sample()) == fingerprints(task.sample()), "two samples differ")
