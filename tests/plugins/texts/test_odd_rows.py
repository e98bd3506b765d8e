"""What a row may hold is the same in every form: files, tables in memory, and tasks of plugins."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import attnx
from attnx.plugin import DataError, PluginError, TaskData, UsageError
from attnx.testing import toy_data

HALF = "\ud83d"  # the first half of an emoji
ROWS = [
    {"text": f"text number {n} is {'fine' if n % 3 else 'poor'}", "label": "up" if n % 3 else "down"}
    for n in range(40)
]
FAST: dict[str, Any] = {
    "model": "average-add",
    "metrics": "nnz",
    "training": {"epochs": 1},
    "progress": False,
}


def changed(**fields: Any) -> list[dict[str, Any]]:
    """The rows with other fields in the third; what it gets, all of them have."""
    rows = [{**{key: f"{key} {n}" for key in fields if key not in row}, **row} for n, row in enumerate(ROWS)]
    return [*rows[:2], {**rows[2], **fields}, *rows[3:]]


def as_jsonl(folder: Path, rows: list[dict[str, Any]], options: str) -> str:
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"jsonl:file={path}{options}"


def as_frame(folder: Path, rows: list[dict[str, Any]], options: str) -> Any:
    chosen = dict(part.split("=") for part in options.split(",") if part)
    named = {"id": "id"} if "id" in rows[0] else {}
    return (pd.DataFrame(rows), chosen | named)


FORMS: list[Callable[[Path, list[dict[str, Any]], str], Any]] = [as_jsonl, as_frame]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("fields", "options", "said"),
    [
        ({"text": f"half {HALF} of it"}, "", "line 3: the text holds half a character"),
        ({"label": f"up{HALF}"}, "", "line 3: the label holds half a character"),
        ({"id": f"x{HALF}"}, "", "line 3: the id holds half a character"),
        ({"query": f"why {HALF}"}, ",query=query", "line 3: the query holds half a character"),
        ({"label": "NaN"}, "", "label 'NaN' stands for a missing one"),
        ({"label": "none"}, "", "label 'none' stands for a missing one"),
        ({"label": "null"}, "", "label 'null' stands for a missing one"),
        ({"label": ""}, "", "label"),
        ({"id": ""}, "", "id"),
        ({"id": "id 0"}, "", "occurs twice"),
        ({"id": float("nan")}, "", "id"),
        ({"text": None}, "", "text"),
    ],
)
def test_an_odd_row_is_refused_before_anything_is_computed(
    tmp_path: Path, form: Callable[..., Any], fields: dict[str, Any], options: str, said: str
) -> None:
    with pytest.raises(DataError, match=said) as caught:
        attnx.evaluate(form(tmp_path, changed(**fields), options), **FAST)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ['{"text": "a", "text": "b", "label": "up"}', '{"label": 1, "label": 0}'])
def test_a_key_that_is_given_twice_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(f"{json.dumps(ROWS[0])}\n{text}\n")
    with pytest.raises(DataError, match=r"line 2: the key '(text|label)' occurs twice"):
        attnx.evaluate(f"jsonl:file={path}", **FAST)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([["a b", "c d", "up"]] * 9, columns=["text", "text", "label"]),
        pd.DataFrame([["a b", "up", "down"]] * 9, columns=["text", "label", "label"]),
        pd.DataFrame([["a b", "up"]] * 9),
        pd.DataFrame({"text": [], "label": []}),
        pd.DataFrame({"text": ["a b", "c d"] * 9, "label": [float("nan"), "up"] * 9}),
        pd.DataFrame({"text": ["a b", float("nan")] * 9, "label": ["down", "up"] * 9}),
        pd.DataFrame({"text": ["a b", pd.NA] * 9, "label": ["down", pd.NA] * 9}),
        pd.DataFrame({"text": ["a b", b"c d"] * 9, "label": ["down", "up"] * 9}),
        pd.DataFrame({"text": ["a b", "c d"] * 9, "label": pd.to_datetime(["2020-01-01", "2020-01-02"] * 9)}),
        pd.DataFrame({"text": ["a b", "c d"] * 9, "label": [0.5, 1.5] * 9}),
        pd.DataFrame([["a b", "c d", "up"]] * 2, columns=["text", "text", "label"]),
        (["a b"] * 5, ["up"] * 6),
        {"text": ["a b"] * 5, "label": ["up"] * 6},
        ([], []),
        {"train": pd.DataFrame(ROWS)},
        {"train": pd.DataFrame(ROWS), "test": pd.DataFrame(ROWS)[["text"]]},
        {"train": pd.DataFrame(ROWS), "testing": pd.DataFrame(ROWS)},
        {"train": 3, "test": None},
    ],
)
def test_an_odd_table_is_one_line(frame: Any) -> None:
    with pytest.raises((DataError, UsageError)) as caught:
        attnx.evaluate(frame, **FAST)
    assert "\n" not in str(caught.value)


class Given(attnx.plugin.Task):
    """Toy data with something else in one example."""

    provides = ("words", "rationale")

    def __init__(self, change: Callable[[TaskData], TaskData]) -> None:
        self.change = change

    def load(self, source: Any) -> TaskData:
        return self.change(toy_data())


def of_first(**fields: Any) -> Callable[[TaskData], TaskData]:
    return lambda data: replace(data, test=(replace(data.test[0], **fields), *data.test[1:]))


@pytest.mark.parametrize(
    "change",
    [
        of_first(id=f"x{HALF}"),
        of_first(units=(HALF, "b", "c"), rationale=None),
        of_first(query=("why", HALF)),
        of_first(text=f"a{HALF}", units=("a",), starts=(0,), rationale=None),
        lambda data: replace(data, label_names=(f"up{HALF}", *data.label_names[1:])),
    ],
)
def test_half_a_character_of_a_plugin_is_the_plugins_fault(change: Callable[[TaskData], TaskData]) -> None:
    with pytest.raises(PluginError, match="holds half a character"):
        attnx.evaluate(Given(change), **FAST)


def test_half_a_character_is_not_explained() -> None:
    with pytest.raises(UsageError, match="Text 1 of 1 holds half a character"):
        attnx.explain(lambda texts: [[0.5, 0.5] for _ in texts], f"a {HALF}", progress=False)


def test_a_line_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnx.data.text_files.LONGEST", 2**20)
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(ROWS[0]).encode() + b"\n" + b" " * 2**21))
    with pytest.raises(DataError, match="line 2: longer than 1 MB"):
        attnx.evaluate(f"jsonl:file={path}", **FAST)
