"""Making text tasks, and the files they read."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from attnx.host.cards import Component
from attnx.plugin import Card, DataError, Example, Source, Task, TaskData, UsageError
from attnx.registry.schema import read_registry
from attnx.request.plan import Part
from attnx.request.spec import validate_options
from attnx_texts import attnx_tasks

SHARED = Path(os.environ.get("ATTNX_SHARED", Path(__file__).parents[3].parent / "shared"))
CARDS: dict[str, Card] = {card.name: card for card in attnx_tasks()}
LONG = "the quick brown fox jumps over a lazy dog"  # nine words: no dataset drops it


def make(task: str, /, **options: Any) -> Task:
    component = Component(CARDS[task], "task", "texts", "attnx", "0")
    checked = validate_options(component.load_options(), options, f"task '{task}'")
    return Part("task", task, checked, (), (), component).make()  # type: ignore[no-any-return]


def load(task: str, folder: Path | None = None, /, **options: Any) -> TaskData:
    return make(task, **options).load(Source(folder, read_registry(()).datasets))


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def write_csv(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    return path


def write_jsonl(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))


def counts(data: TaskData, split: str) -> dict[str, int]:
    return dict(Counter(data.label_names[example.label] for example in getattr(data, split)))


def everything(data: TaskData) -> list[Example]:
    return [*data.train, *data.dev, *data.test]


def error(task: str, folder: Path | None = None, /, **options: Any) -> str:
    """The one line a task fails with."""
    with pytest.raises((DataError, UsageError)) as caught:
        load(task, folder, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def shared(name: str) -> Path:
    """The folder of real data that holds a file of that name, or the test is skipped."""
    if not (SHARED / "data" / name).exists():
        pytest.skip(f"real data is not at {SHARED / 'data' / name}")
    return SHARED / "data"
