"""Hugging Face datasets: read with the library where it is installed, and with a stand-in for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from text_loading import error, everything, load, write_jsonl


@dataclass
class Table:
    """What the task uses of one split."""

    labels: Sequence[int]
    names: Sequence[str]
    column_names = ("text", "label")
    _fingerprint = "print"

    @property
    def features(self) -> dict[str, SimpleNamespace]:
        return {"label": SimpleNamespace(names=self.names)}

    def select_columns(self, columns: list[str]) -> Table:
        return self

    def __iter__(self) -> Iterator[dict[str, object]]:
        return iter({"text": f"text of {label}", "label": label} for label in self.labels)


def stand_in(monkeypatch: pytest.MonkeyPatch, **splits: Table) -> None:
    """A library whose only dataset has these splits."""
    library = SimpleNamespace(
        __version__="0",
        are_progress_bars_disabled=lambda: True,
        disable_progress_bars=lambda: None,
        load_dataset=lambda name, config: splits,
    )
    monkeypatch.setitem(sys.modules, "datasets", library)


def test_a_number_is_a_class_by_its_place_even_if_names_are_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table([0, 1, 2] * 10, names=("1", "2", "3"))
    stand_in(monkeypatch, train=table, test=table)
    data = load("hf-dataset", name="stars")
    assert data.label_names == ("1", "2", "3")
    assert all(int(example.units[-1]) == example.label for example in everything(data))


def test_a_class_that_train_does_not_use_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("zero", "unused", "a")
    stand_in(monkeypatch, train=Table([0, 2] * 10, names), test=Table([2, 0], names))
    data = load("hf-dataset", name="gaps")
    assert data.label_names == ("zero", "a")
    assert [example.label for example in data.test] == [1, 0]
    stand_in(monkeypatch, train=Table([0, 2] * 10, names), test=Table([0, 1], names))
    said = error("hf-dataset", name="gaps")
    assert said == "'gaps test', line 2: label 'unused' does not occur in train."


def test_a_row_without_a_class_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("no", "yes")
    stand_in(monkeypatch, train=Table([0, 1] * 10, names), test=Table([0, -1], names))
    assert "row 2: class -1 is none of the 2 of column 'label'" in error("hf-dataset", name="hidden")


def test_a_missing_library_is_named_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert "pip install 'attnx[hf]'" in error("hf-dataset", name="imdb")


def test_a_taskis_asked_for() -> None:
    assert "needs hf-dataset:name=NAME" in error("hf-dataset")


def test_a_saved_dataset_is_read_with_the_names_of_its_labels(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the library datasets is an extra (attnx[hf])")
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["bad", "good"])}
    )
    columns = {"text": [f"text {i}" for i in range(20)], "label": [i % 2 for i in range(20)]}
    table = datasets.Dataset.from_dict(columns, features=features)
    datasets.DatasetDict(train=table, test=table).save_to_disk(str(tmp_path / "saved"))
    data = load("hf-dataset", name=str(tmp_path / "saved"))
    assert data.label_names == ("bad", "good")
    assert [len(split) for split in (data.train, data.dev, data.test)] == [18, 2, 20]
    assert all(example.label == int(example.units[1]) % 2 for example in everything(data))
    said = error("hf-dataset", name=str(tmp_path / "saved"), text="txt")
    assert said.endswith("Did you mean 'text'? Columns: text, label. Choose one with text=COLUMN.")
    assert "no split 'valid'" in error("hf-dataset", name=str(tmp_path / "saved"), dev="valid")


def test_data_files_of_a_folder_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets", reason="the library datasets is an extra (attnx[hf])")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    for split in ("train", "test"):
        rows = [{"text": f"text {i}", "label": ["no", "yes"][i % 2]} for i in range(20)]
        write_jsonl(tmp_path / f"files/{split}.jsonl", rows)
    data = load("hf-dataset", name=str(tmp_path / "files"))
    assert data.label_names == ("no", "yes")
    assert len(data.test) == 20
