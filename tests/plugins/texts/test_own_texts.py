"""The user's own texts: CSV, JSON lines with rationales or without."""

from __future__ import annotations

import gc
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from text_loading import error, everything, load, make, shared, write_csv, write_jsonl

import attnx
from attnx.data.loading import load_data
from attnx.plugin import DataError, Example, Source, TaskData
from attnx.request.spec import Limit
from attnx_texts import corpus


class TestOwnFiles:
    def rows(self, count: int = 40) -> list[dict[str, object]]:
        return [
            {"text": f"Word {'odd' if i % 2 else 'even'} {i}", "label": ["no", "yes"][i % 2]}
            for i in range(count)
        ]

    def one(self, tmp_path: Path, rows: Sequence[Mapping[str, object]] | None = None) -> Path:
        return write_jsonl(tmp_path / "mine.jsonl", self.rows() if rows is None else rows)

    def test_one_file_is_divided_and_its_bytes_are_named(self, tmp_path: Path) -> None:
        data = load("jsonl", file=self.one(tmp_path))
        assert [len(split) for split in (data.train, data.dev, data.test)] == [32, 4, 4]
        assert data.label_names == ("no", "yes")
        assert data.provenance["split"] == "80/10/10 % of the rows at random, seed 0"
        assert data.provenance["all file"].startswith("mine.jsonl sha256 ")
        for example in everything(data):
            assert ("odd" in example.units) == (example.label == 1)
            assert example.id == f"row-{int(example.units[-1]):06d}"

    def test_a_text_is_not_in_memory_as_it_was_read_and_as_an_example(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def alive() -> list[object]:
            return [thing for thing in gc.get_objects() if type(thing) is corpus._Kept]

        left: list[int] = []
        others = alive()  # of tests that ended with an error

        def example(**fields: Any) -> Example:
            left.append(len(alive()) - len(others))
            return Example(**fields)

        monkeypatch.setattr(corpus, "Example", example)
        load("jsonl", file=self.one(tmp_path))
        assert left == list(range(40, 0, -1))

    def test_csv_and_jsonl_of_the_same_rows_give_the_same_examples(self, tmp_path: Path) -> None:
        table = [("body", "class"), *((row["text"], row["label"]) for row in self.rows())]
        path = write_csv(tmp_path / "mine.csv", table)
        ours, theirs = (
            load("csv", file=path, text="body", label="class"),
            load("jsonl", file=self.one(tmp_path)),
        )
        assert everything(ours) == everything(theirs)

    def test_files_for_every_split_are_found_in_the_data_directory(self, tmp_path: Path) -> None:
        for split in ("train", "dev", "test"):
            write_jsonl(tmp_path / f"{split}.jsonl", self.rows(10))
        files = {split: f"{split}.jsonl" for split in ("train", "dev", "test")}
        data = load("jsonl", tmp_path, **files)
        assert [len(split) for split in (data.train, data.dev, data.test)] == [10, 10, 10]
        assert data.dev[3].id == "dev-000003"

    def test_numbers_as_labels_are_ordered_as_numbers(self, tmp_path: Path) -> None:
        rows = [{"text": "a b", "label": label} for label in (10, 9, -1, 2) for _ in range(5)]
        assert load("jsonl", file=self.one(tmp_path, rows)).label_names == ("-1", "2", "9", "10")

    def test_labels_that_only_look_like_numbers_are_names(self, tmp_path: Path) -> None:
        labels = ("--1", "1", "9" * 5000)
        rows = [{"text": "a b", "label": label} for label in labels for _ in range(5)]
        assert load("jsonl", file=self.one(tmp_path, rows)).label_names == labels

    @pytest.mark.parametrize(("one", "other"), [("0", "0.0"), ("1.", "01"), ("-2", "-2.00"), ("7", "+7")])
    def test_two_spellings_of_one_number_are_refused(self, tmp_path: Path, one: str, other: str) -> None:
        table = [("text", "label"), ("a", one), ("b", "x"), ("c", other), ("d", one)]
        said = error("csv", file=write_csv(tmp_path / "mine.csv", table))
        assert f"line 4: label '{other}' is the number that line 2 spells '{one}'" in said

    def test_a_missing_column_is_told_with_the_option_that_names_another(self, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "mine.csv", [("review", "stars"), ("a", "1")])
        assert error("csv", file=path).endswith("Columns: 'review', 'stars'. Choose one with text=COLUMN.")
        assert error("csv", file=path, text="review").endswith("Choose one with label=COLUMN.")

    def test_the_way_to_taskfiles_is_told(self) -> None:
        for options in ({}, {"train": "a"}, {"file": "a", "test": "b"}):
            assert "needs csv:file=PATH" in error("csv", **options)

    def test_a_missing_file_is_named_with_those_that_are_there(self, tmp_path: Path) -> None:
        self.one(tmp_path)
        near, far = tmp_path / "mien.jsonl", tmp_path / "reviews.jsonl"
        assert f"'{near}'. Did you mean '{tmp_path / 'mine.jsonl'}'?" in error("jsonl", file=near)
        assert f"There is no file '{far}'. There are: mine.jsonl." in error("jsonl", file=far)

    def test_a_folder_is_called_one_and_a_home_is_found(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert error("jsonl", file=tmp_path) == f"'{tmp_path}' is a folder; give a file in it."
        self.one(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path))
        assert len(load("jsonl", file="~/mine.jsonl").train) == 32
        assert "There is no file '~nobody-of-that-name/a.csv'" in error(
            "csv", file="~nobody-of-that-name/a.csv"
        )

    @pytest.mark.parametrize("method", ["open", "is_file"])
    def test_a_file_that_may_not_be_read_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
    ) -> None:
        def refuse(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        path = self.one(tmp_path)
        task = make("jsonl", file=path)
        monkeypatch.setattr(Path, method, refuse)
        with pytest.raises(DataError) as caught:
            task.load(Source())
        assert str(caught.value) == f"'{path}' cannot be read: Permission denied."

    @pytest.mark.parametrize(
        ("row", "said"),
        [
            ({"text": "", "label": "no"}, "line 3: the text is empty; remove the row, or set empty=drop"),
            ({"text": "<br /> \u200b", "label": "no"}, "line 3: the text holds no word"),
            (
                {"text": "a " * 2001, "label": "no"},
                "line 3: the text has 2001 words, more than max_length=2000",
            ),
            ({"txet": "a", "label": "no"}, "line 3: there is no key 'text'. Did you mean 'txet'?"),
        ],
    )
    def test_a_bad_row_is_refused_with_its_line(
        self, tmp_path: Path, row: dict[str, object], said: str
    ) -> None:
        rows = self.rows()
        rows[2] = row
        path = self.one(tmp_path, rows)
        message = error("jsonl", file=path)
        assert said in message
        assert str(path) in message

    def test_bad_rows_can_be_dropped_or_truncated_instead(self, tmp_path: Path) -> None:
        rows = self.rows()
        rows[2] = {"text": "", "label": "no"}
        rows[5] = {"text": "a b c d e f", "label": "yes", "why": [0, 1, 1, 0, 0, 1]}
        path = self.one(tmp_path, rows)
        data = load(
            "jsonl-rationales", file=path, empty="drop", max_length=4, too_long="truncate", rationale="why"
        )
        assert len(everything(data)) == 39
        (cut,) = (example for example in everything(data) if example.id == "row-000005")
        assert (cut.units, cut.rationale) == (("a", "b", "c", "d"), (False, True, True, False))
        assert data.provenance["dropped"] == "all 1 of 40 (1 shorter than 1 words)"
        dropped = load("jsonl", file=path, empty="drop", max_length=4, too_long="drop")
        assert len(everything(dropped)) == 38

    def test_a_label_that_train_lacks_is_refused(self, tmp_path: Path) -> None:
        train = write_jsonl(tmp_path / "train.jsonl", self.rows())
        test = write_jsonl(tmp_path / "test.jsonl", [*self.rows(4), {"text": "a", "label": "maybe"}])
        message = error("jsonl", train=train, test=test)
        assert f"'{test}', line 5: label 'maybe' does not occur in train" in message

    def test_one_label_alone_is_refused(self, tmp_path: Path) -> None:
        path = self.one(tmp_path, [{"text": "a b", "label": "same"}] * 20)
        with pytest.raises(DataError, match="All training examples have the label 'same'"):
            load_data(make("jsonl", file=path), Source(), Limit())

    def test_a_column_of_ids_is_not_taken_for_labels(self, tmp_path: Path) -> None:
        rows = [{"text": "a b", "label": f"id-{i}"} for i in range(60)]
        assert "60 labels for 60 texts" in error("jsonl", file=self.one(tmp_path, rows))

    def test_a_file_of_pixels_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.csv"
        path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
        assert "is not UTF-8" in error("csv", file=path)


class TestRationales:
    def data(self, tmp_path: Path, row: Mapping[str, object], **options: Any) -> TaskData:
        rows = [{"text": f"x y {i}", "label": i % 2} for i in range(19)]
        path = write_jsonl(tmp_path / "r.jsonl", [*rows, row])
        return load("jsonl-rationales", file=path, rationale="why", **options)

    @pytest.mark.parametrize("text", ["It's a fine film.", ["It's", "a", "fine", "film."]])
    @pytest.mark.parametrize("why", [[0, 0, 1, 1], [[2, 4]], [[2, 3], [3, 4]], [False, False, True, True]])
    def test_flags_and_spans_mark_the_same_words(self, tmp_path: Path, text: object, why: object) -> None:
        data = self.data(tmp_path, {"text": text, "label": 0, "why": why})
        marked = {e.id: e for e in everything(data)}["row-000019"]
        assert marked.units == ("it's", "a", "fine", "film.")
        assert marked.rationale == (False, False, True, True)
        assert all(e.rationale is None for e in everything(data) if e is not marked)

    @pytest.mark.parametrize(
        ("why", "said"),
        [
            ([0, 1], "line 20: the rationale has 2 values for 3 words"),
            ([[1, 4]], "has [1, 4], which is not within its 3 words"),
            ([[2, 2]], "has [2, 2], which is not within"),
            ([[-1, 2]], "has [-1, 2], which is not within"),
            ([0, 1, 2], "it has 0"),
            ("x", "must be a list of 0 and 1"),
            ([[0.0, 1.0]], "it has [0.0, 1.0]"),
        ],
    )
    def test_a_rationale_that_does_not_fit_is_refused(self, tmp_path: Path, why: object, said: str) -> None:
        with pytest.raises(DataError) as caught:
            self.data(tmp_path, {"text": "a fine film", "label": 0, "why": why})
        assert said in str(caught.value)

    def test_spans_of_real_rationales_fall_on_the_same_words(self) -> None:
        path = shared("eraser-movies/val.jsonl.gz") / "eraser-movies/val.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            originals = [json.loads(line) for line in file]
        key = "evidence_token_spans"
        data = load("jsonl-rationales", file=path, rationale=key)
        by_id = {original["id"]: original for original in originals}
        for example in everything(data):
            original = by_id[example.id]
            words = original["text"].split()
            spans = [span for group in original[key] for span in group]
            expected = {i for start, end in spans for i in range(start, end)}
            assert example.rationale is not None
            assert {*np.flatnonzero(example.rationale).tolist()} == expected
            assert [*example.units] == [word.lower() for word in words]


def test_rationales_of_ones_own_files_can_be_scored(tmp_path: Path) -> None:
    rows = [{"text": f"so good {i}", "label": i % 2, "rationale": [0, 1, 0]} for i in range(40)]
    path = write_jsonl(tmp_path / "mine.jsonl", rows)
    report = attnx.evaluate(
        f"jsonl-rationales:file={path}",
        "mlp:embedding=8,hidden=8",
        metrics=["plausibility"],
        training={"epochs": 1},
        progress=False,
    )
    assert report.select("average-precision").n == 4
    with pytest.raises(attnx.UsageError, match="jsonl-rationales"):
        attnx.evaluate(f"jsonl:file={path}", "mlp", metrics=["plausibility"], progress=False)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_an_id_of_the_users_own_is_the_id(kind: str, tmp_path: Path) -> None:
    rows = [{"id": f"mine {n}", "text": f"word{n} fine", "label": n % 2} for n in range(40)]
    file = tmp_path / f"own.{kind}"
    if kind == "csv":
        lines = ["id,text,label", *(f"{row['id']},{row['text']},{row['label']}" for row in rows)]
    else:
        lines = [json.dumps(row) for row in rows]
    file.write_text("\n".join(lines) + "\n")
    data = load(kind, file=file)
    ids = {example.id for split in (data.train, data.dev, data.test) for example in split}
    assert ids == {row["id"] for row in rows}
    file.write_text("\n".join([*lines, lines[-1]]) + "\n")
    with pytest.raises(DataError, match=r"line 4.: the id 'mine 39' occurs twice"):
        load(kind, file=file)
