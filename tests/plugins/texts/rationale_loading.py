"""Making tasks with human rationales, and the files they read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from attnx.host.cards import Component
from attnx.plugin import DataError, Example, Source, Task, TaskData
from attnx.registry.schema import read_registry
from attnx.request.plan import Part
from attnx.request.spec import validate_options
from attnx_texts import attnx_tasks

SHARED = Path(os.environ.get("ATTNX_SHARED", Path(__file__).parents[3].parent / "shared"))
CARDS = {card.name: card for card in attnx_tasks() if card.name in ("eraser-movies", "hatexplain", "esnli")}


def make(name: str, /, **options: Any) -> Task:
    component = Component(CARDS[name], "task", "texts", "attnx", "0")
    checked = validate_options(component.load_options(), options, f"task '{name}'")
    return Part("task", name, checked, (), (), component).make()  # type: ignore[no-any-return]


def load(name: str, folder: Path | None, /, **options: Any) -> TaskData:
    return make(name, **options).load(Source(folder, read_registry(()).datasets))


def error(name: str, folder: Path | None, /, **options: Any) -> str:
    """The one line a task fails with."""
    with pytest.raises(DataError) as caught:
        load(name, folder, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def everything(data: TaskData) -> list[Example]:
    return [*data.train, *data.dev, *data.test]


def marked(example: Example) -> list[str]:
    assert example.rationale is not None
    return [unit for unit, mark in zip(example.units, example.rationale, strict=True) if mark]


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
