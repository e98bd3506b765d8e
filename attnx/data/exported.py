"""The examples of a task as records, for scores that are computed elsewhere."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final, Literal

from ..errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from ..types import TaskData

Split = Literal["train", "dev", "test", "all"]
SPLITS: Final = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class ExportedExample:
    """An example as `attnx data export` writes it.

    Attributes:
        id: the name of the example in its task.
        split: train, dev or test.
        units: its words, or the labels of its other units.
        label: the name of its class.
        query: the question about it, if the task has one.
        rationale: 1 for every important unit and 0 for the others, if the task knows them.
    """

    id: str
    split: str
    units: tuple[str, ...]
    label: str
    query: tuple[str, ...] | None = None
    rationale: tuple[int, ...] | None = None

    def to_json(self) -> str:
        """The example as one line of JSON; what it does not have is left out."""
        values = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps(values, ensure_ascii=False)


def check_split(split: str) -> None:
    """Refuse a split that does not exist."""
    if split not in (*SPLITS, "all"):
        raise UsageError(
            f"Unknown split '{split}'.{did_you_mean(split, SPLITS)} Available: {', '.join(SPLITS)}, all."
        )


def exported_examples(data: TaskData, split: str) -> tuple[ExportedExample, ...]:
    """The examples of one split, or of all."""
    return tuple(
        ExportedExample(
            id=example.id,
            split=name,
            units=tuple(example.units),
            label=data.label_names[example.label],
            query=None if example.query is None else tuple(example.query),
            rationale=None if example.rationale is None else tuple(int(m) for m in example.rationale),
        )
        for name in (SPLITS if split == "all" else (split,))
        for example in getattr(data, name)
    )
