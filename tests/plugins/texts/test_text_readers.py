"""Readers give every labelled text with its place, and say what is wrong in one line."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from attnx.plugin import DataError, read_json_lines, read_lines
from attnx_texts.readers.delimited import read_table, read_zhang
from attnx_texts.readers.folders import read_folders, without_mail_header
from attnx_texts.readers.jsonl import read_jsonl
from attnx_texts.readers.split_files import find_split_files
from attnx_texts.readers.tab import read_tab
from attnx_texts.readers.trees import read_trees
from attnx_texts.rows import Row

TAB = "Category\tText\nd\tstring\nclass\t\n"


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def failure(rows: Callable[[], Iterable[Any]]) -> str:
    """The one line a reader fails with."""
    with pytest.raises(DataError) as caught:
        list(rows())
    message = str(caught.value)
    assert "\n" not in message
    return message


def labelled(rows: Iterable[Row]) -> list[tuple[Any, str]]:
    return [(row.text, row.label) for row in rows]


class TestTextFiles:
    def test_compressed_and_plain_files_give_the_same_lines(self, tmp_path: Path) -> None:
        plain = write(tmp_path / "a.txt", "\ufeffone\n\ufefftwo\n")
        packed = write(tmp_path / "a.txt.gz", gzip.compress(plain.read_bytes()))
        assert list(read_lines(plain)) == list(read_lines(packed)) == ["one\n", "\ufefftwo\n"]

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("a.csv", b"fine\ncaf\xe9\n", "line 2: byte 0xe9 is not UTF-8"),
            ("a.csv", b"\x89PNG\0\0", "line 1: zero byte found"),
            ("a.csv.gz", b"not gzip", "cannot be unpacked"),
            ("a.csv.gz", gzip.compress(b"cut off" * 1000, mtime=0)[:30], "cannot be unpacked"),
        ],
    )
    def test_a_file_that_is_not_text_is_refused(
        self, tmp_path: Path, name: str, content: bytes, said: str
    ) -> None:
        path = write(tmp_path / name, content)
        message = failure(lambda: read_lines(path))
        assert said in message
        assert str(path) in message

    def test_a_missing_file_and_a_folder_are_named(self, tmp_path: Path) -> None:
        missing = tmp_path / "no.csv"
        assert f"File '{missing}' does not exist" in failure(lambda: read_lines(missing))
        assert "Cannot read" in failure(lambda: read_lines(tmp_path))


class TestTables:
    def test_quotes_delimiters_and_line_breaks_in_a_text_survive(self, tmp_path: Path) -> None:
        texts = ['a, "b"', "two\nlines", "plain", ""]
        path = tmp_path / "a.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(
                [["n", "label", "text"], *([i, f" y{i} ", t] for i, t in enumerate(texts))]
            )
        rows = list(read_table(path))
        assert labelled(rows) == [(text, f"y{i}") for i, text in enumerate(texts)]
        assert [row.line for row in rows] == [2, 3, 5, 6]
        assert [row.index for row in rows] == [0, 1, 2, 3]

    def test_other_delimiters_are_read(self, tmp_path: Path) -> None:
        write(tmp_path / "a.tsv", "text\tlabel\nx, y\t1\n")
        write(tmp_path / "a.csv", "text;label\nx, y;1\n")
        assert labelled(read_table(tmp_path / "a.tsv")) == [("x, y", "1")]
        assert labelled(read_table(tmp_path / "a.csv", delimiter="semicolon")) == [("x, y", "1")]

    def test_rows_of_another_source_are_passed_over_and_keep_their_numbers(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.csv", "text,label,source\na,0,x\nb,1,y\nc,0,x\n")
        assert [(row.index, row.text) for row in read_table(path, only={"source": "x"})] == [
            (0, "a"),
            (2, "c"),
        ]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (
                "txt,label\na,1\n",
                "line 1: there is no column 'text'. Did you mean 'txt'? Columns: 'txt', 'label'.",
            ),
            ("text;label\na;1\n", "set delimiter=semicolon"),
            ("text,text,label\na,b,1\n", "column 'text' occurs twice"),
            ("text,label\na,1\nb\n", "line 3: 1 columns where the header has 2"),
            ("text,label\na,1\nb, c,1\n", "line 3: 3 columns"),
            ("text,label\na, \n", "line 2: column 'label' is empty"),
            ("text,label\na,1\nb, NaN\n", "line 3: label 'NaN' stands for a missing one; remove the row"),
            ("text,label\na,none\n", "line 2: label 'none' stands for a missing one"),
            ("text,label\na,NULL\n", "line 2: label 'NULL' stands for a missing one"),
            (
                "text,label\ra b,1\rc d,0\r",
                r"line 1: lines end in CR alone; convert the file with tr '\r' '\n'",
            ),
            ('text,label\r"a b","1"\r', "line 1: lines end in CR alone"),
            ('text,label\n"a"b,1\n', "line 2: not a table"),
            ('text,label\n"a,1\n', "line 2: not a table"),
            ("text,label\n" + "x" * 200_000 + ",1\n", "line 2: a cell is longer than 131072 characters"),
            ("", "is empty; its first line must name the columns"),
        ],
    )
    def test_a_bad_table_is_refused_with_its_line(self, tmp_path: Path, content: str, said: str) -> None:
        path = write(tmp_path / "a.csv", content)
        assert said in failure(lambda: read_table(path))

    def test_zhang_tables_join_their_columns_and_count_classes_from_one(self, tmp_path: Path) -> None:
        path = write(tmp_path / "train.csv", '"3","A ""title""","two\\nlines\\here"\n"1","b",""\n')
        assert labelled(read_zhang(path, 4)) == [('A "title" two lines here', "2"), ("b ", "0")]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ('"5","a"\n', "line 1: the first column is '5'; it must be a class from 1 to 4"),
            ('"1","a"\n"0","a"\n', "line 2: the first column is '0'"),
            ("class,text\n", "the first column is 'class'"),
            ("9" * 5000 + ",a\n", "line 1: the first column is '999"),
            ('"1"\n', "line 1: one column"),
        ],
    )
    def test_a_bad_zhang_table_is_refused(self, tmp_path: Path, content: str, said: str) -> None:
        path = write(tmp_path / "train.csv", content)
        assert said in failure(lambda: read_zhang(path, 4))


class TestJsonLines:
    def test_strings_and_lists_of_words_are_read(self, tmp_path: Path) -> None:
        lines = [
            {"text": "a b", "label": 1, "why": [[0, 1]]},
            {"text": ["c", "d"], "label": "x", "why": [1, 0]},
            {"text": "e", "label": True},
        ]
        content = "\n\n".join(json.dumps(line) for line in lines)
        path = write(tmp_path / "a.jsonl.gz", gzip.compress(content.encode()))
        rows = list(read_jsonl(path, rationale="why"))
        assert labelled(rows) == [("a b", "1"), (("c", "d"), "x"), ("e", "true")]
        assert [row.rationale for row in rows] == [[[0, 1]], [1, 0], None]
        assert [(row.index, row.line) for row in rows] == [(0, 1), (1, 3), (2, 5)]

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ('{"text": "a", "label"}', "line 2, column 22: not valid JSON"),
            ("[1, 2]", "line 2: expected a JSON object, found a list"),
            ("[" * 100_000, "line 2"),
            ('{"txt": "a", "label": 1}', "there is no key 'text'. Did you mean 'txt'? Keys: 'txt', 'label'"),
            ('{"text": "a", "Label": 1}', "there is no key 'label'. Did you mean 'Label'?"),
            ('{"text": 5, "label": 1}', "'text' must be a string, or a list of words"),
            ('{"text": ["a", ""], "label": 1}', "'text' must be a string, or a list of words"),
            ('{"text": "a", "label": 0.5}', "'label' must be a string or a whole number"),
            ('{"text": "a", "label": null}', "'label' must be a string or a whole number"),
            ('{"text": "a", "label": " "}', "and not empty"),
        ],
    )
    def test_a_bad_line_is_refused_with_its_number(self, tmp_path: Path, line: str, said: str) -> None:
        path = write(tmp_path / "a.jsonl", '{"text": "fine", "label": 0}\n' + line + "\n")
        assert said in failure(lambda: read_jsonl(path))


class TestOtherFormats:
    @pytest.mark.parametrize("blank", ["", "\n"])
    def test_three_header_rows_of_a_tab_file_are_passed_over(self, tmp_path: Path, blank: str) -> None:
        path = write(tmp_path / "a.tab", f"{TAB}{blank}rec.autos\tmy car\nsci.med\tthe doctor\n")
        rows = list(read_tab(path))
        assert labelled(rows) == [("my car", "rec.autos"), ("the doctor", "sci.med")]
        assert [(row.index, row.line) for row in rows] == [(0, 4 + len(blank)), (1, 5 + len(blank))]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("Category\tText\nrec.autos\tmy car\n", "three header rows are needed"),
            (TAB.replace("Text", "Texts"), "there is no column 'Text'. Did you mean 'Texts'?"),
            (f"{TAB}rec.autos\tmy\tcar\n", "line 4: 3 columns where the header has 2"),
        ],
    )
    def test_a_bad_tab_file_is_refused(self, tmp_path: Path, content: str, said: str) -> None:
        path = write(tmp_path / "a.tab", content)
        assert said in failure(lambda: read_tab(path))

    def test_trees_give_words_and_drop_neutral_sentences(self, tmp_path: Path) -> None:
        path = write(
            tmp_path / "train.txt",
            "(3 (2 A) (4 (2 fine) (2 film)))\n(2 (2 It) (2 is))\n\n(0 (2 -LRB-) (1 Bad\\/sad))\n",
        )
        rows = list(read_trees(path))
        assert labelled(rows) == [(("A", "fine", "film"), "positive"), (("(", "Bad/sad"), "negative")]
        assert [row.line for row in rows] == [1, 4]

    @pytest.mark.parametrize("line", ["a fine film", "(7 (2 a))", "(3 (2 a)", "(3 )"])
    def test_a_line_that_is_no_tree_is_refused(self, tmp_path: Path, line: str) -> None:
        path = write(tmp_path / "train.txt", f"(3 (2 a) (4 film))\n{line}\n")
        assert "line 2: not a tree" in failure(lambda: read_trees(path))

    def test_folders_are_read_in_order_with_their_labels(self, tmp_path: Path) -> None:
        for name, text in (("neg/2_1.txt", "bad\n"), ("neg/0_3.txt", "worse"), ("pos/0_9.txt", "good")):
            write(tmp_path / name, text)
        write(tmp_path / "neg/readme.md", "ignored")
        write(tmp_path / "neg/._0_3.txt", b"\0\5ignored")
        rows = read_folders(tmp_path, {"neg": "negative", "pos": "positive"}, suffix=".txt")
        assert labelled(rows) == [("worse", "negative"), ("bad", "negative"), ("good", "positive")]

    def test_a_missing_or_empty_folder_is_named(self, tmp_path: Path) -> None:
        write(tmp_path / "neg/.DS_Store", b"\0\5")
        assert "holds no '*' file" in failure(lambda: read_folders(tmp_path, {"neg": "negative"}))
        assert "holds no '*.txt' file" in failure(lambda: read_folders(tmp_path, {"neg": "n"}, suffix=".txt"))
        message = failure(lambda: read_folders(tmp_path, {"pos": "positive"}))
        assert f"no folder '{tmp_path / 'pos'}'" in message

    def test_of_a_mail_header_only_the_subject_is_left(self) -> None:
        message = "From: a@b\nNewsgroups: rec.autos\nSubject: Re: cars\n\nHello\n\nall\n"
        assert without_mail_header(message).split() == ["Re:", "cars", "Hello", "all"]


class TestSplitFiles:
    def make(self, folder: Path, *names: str) -> Path:
        for name in names:
            write(folder / name, "")
        return folder

    def found(
        self, folder: Path, prefix: str = "auto", kinds: tuple[str, ...] = ("jsonl",)
    ) -> dict[str, str]:
        return {split: path.name for split, path in find_split_files(folder, prefix, kinds)[1].items()}

    def test_names_without_prefix_come_before_the_original_preparation(self, tmp_path: Path) -> None:
        self.make(tmp_path, "jw.train_again.jsonl.gz", "jw.test.jsonl.gz", "notes.txt")
        assert find_split_files(tmp_path, "auto", ("jsonl",))[0] == "jw"
        assert self.found(tmp_path) == {"train": "jw.train_again.jsonl.gz", "test": "jw.test.jsonl.gz"}
        self.make(tmp_path, "train.jsonl", "val.jsonl", "test.jsonl")
        assert self.found(tmp_path) == {"train": "train.jsonl", "dev": "val.jsonl", "test": "test.jsonl"}
        assert self.found(tmp_path, "jw")["test"] == "jw.test.jsonl.gz"

    def test_a_prefix_that_is_not_there_is_an_error_with_those_that_are(self, tmp_path: Path) -> None:
        self.make(tmp_path, "jw.train.jsonl", "jw.test.jsonl", "binary.train.jsonl", "binary.test.jsonl")
        message = failure(lambda: self.found(tmp_path, "binry"))
        assert "does not hold binry.train.jsonl and binry.test.jsonl. Did you mean 'binary'?" in message
        assert "files=binary or files=jw" in message

    def test_an_incomplete_set_is_an_error(self, tmp_path: Path) -> None:
        self.make(tmp_path, "train.jsonl")
        assert "does not hold train.jsonl and test.jsonl" in failure(lambda: self.found(tmp_path))

    def test_two_files_for_one_split_are_an_error(self, tmp_path: Path) -> None:
        self.make(tmp_path, "train.jsonl", "train.jsonl.gz", "test.jsonl")
        assert "both train.jsonl and train.jsonl.gz" in failure(lambda: self.found(tmp_path))

    def test_other_kinds_of_file_are_not_seen(self, tmp_path: Path) -> None:
        self.make(tmp_path, "train.csv", "test.csv")
        assert self.found(tmp_path) == {}
        assert self.found(tmp_path, kinds=("jsonl", "csv")) == {"train": "train.csv", "test": "test.csv"}


def test_a_number_of_thousands_of_digits_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text('{"label": 0}\n{"label": ' + "9" * 5000 + "}\n")
    with pytest.raises(DataError, match=r"line 2: .*digits"):
        list(read_json_lines(path))
