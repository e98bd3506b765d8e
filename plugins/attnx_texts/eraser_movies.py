from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attnx.plugin import DataError, Source, Task, TaskData, read_json_lines, read_text

from .marked import make_sample
from .options import RationaleOptions
from .passages import Account, Marks, Passage, cased, make_data
from .reading import find_file, find_label, value_of

FILES = {"train": "train.jsonl", "dev": "val.jsonl", "test": "test.jsonl"}
LABELS = {"NEG": 0, "POS": 1, "0": 0, "1": 1}


class EraserMovies(Task):
    """Movie reviews with the phrases that show whether they are positive or negative.

    A folder holds train.jsonl, val.jsonl and test.jsonl (.gz too). As ERASER has it, a line gives
    `annotation_id`, `classification` and `evidences`, groups of phrases from start_token up to
    end_token in the words of docs/DOCID. Or a line holds all of it: `id`, `text`, `label` (0 negative,
    1 positive) and `evidence_token_spans`, groups of [start, end) in text.split().

    The rationale is every word of every phrase. In the test reviews all evidence was marked, about
    three words in ten; in the others some of it, about one in ten.
    """

    provides = ("words", "rationale")
    dataset = "eraser-movies"

    def __init__(self, options: RationaleOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        fetched = source.fetch(self.dataset)
        files = {split: find_file(fetched.folder, name) for split, name in FILES.items()}
        splits = {split: _read(path) for split, path in files.items()}
        return make_data(
            splits,
            ("negative", "positive"),
            self.options,
            fetched.provenance,
            Account(),
            raw_text=source.raw_text,
        )

    def units_of(self, text: str) -> tuple[str, ...]:
        return cased(tuple(text.split()), self.options)

    def sample(self) -> TaskData:
        evidence = {
            "negative": "dull clumsy tedious hollow stale".split(),
            "positive": "vivid graceful gripping tender witty".split(),
        }
        return make_sample(evidence, self.options)


def _read(path: Path) -> Iterator[Passage]:
    for number, row in read_json_lines(path):
        where = f"'{path}', line {number}"
        yield _review(row, where) if "text" in row else _annotation(row, path.parent / "docs", where)


def _review(row: dict[str, Any], where: str) -> Passage:
    """A line that holds its own text."""
    text: str = value_of(row, "text", str, where)
    words = tuple(text.split())
    spans = [
        _span(span, where)
        for group in value_of(row, "evidence_token_spans", list, where)
        for span in _group(group, where)
    ]
    label = find_label(str(value_of(row, "label", (int, str), where)), LABELS, where)
    name: str = value_of(row, "id", str, where)
    return Passage(name, words, label, _marks(spans, len(words), where), text=text)


def _annotation(row: dict[str, Any], documents: Path, where: str) -> Passage:
    """A line of ERASER, whose text is a file of its own."""
    name = value_of(row, "annotation_id", str, where)
    phrases = [phrase for group in value_of(row, "evidences", list, where) for phrase in _group(group, where)]
    for phrase in phrases:
        if not isinstance(phrase, dict):
            raise DataError(f"{where}: an evidence must be an object with docid, start_token and end_token.")
    names = {value_of(phrase, "docid", str, where) for phrase in phrases} or {name}
    if len(names) > 1:
        raise DataError(f"{where}: evidence in {len(names)} documents; a review is one document.")
    document = names.pop()
    if Path(document).name != document:
        raise DataError(f"{where}: '{document}' is not the name of a file in '{documents}'.")
    spans = [
        (value_of(phrase, "start_token", int, where), value_of(phrase, "end_token", int, where))
        for phrase in phrases
    ]
    label = find_label(value_of(row, "classification", str, where), LABELS, where)
    text = read_text(documents / document)
    words = tuple(text.split())
    return Passage(name, words, label, _marks(spans, len(words), where), text=text)


def _group(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise DataError(f"{where}: evidence must be a list of groups, each a list of phrases.")
    return value


def _span(value: Any, where: str) -> tuple[int, int]:
    if not (isinstance(value, list) and len(value) == 2 and all(type(place) is int for place in value)):
        raise DataError(f"{where}: a phrase must be [start, end), two whole numbers.")
    return value[0], value[1]


def _marks(spans: list[tuple[int, int]], count: int, where: str) -> Marks:
    """One truth value per word; a phrase may be empty, as some of ERASER's are."""
    marks = [False] * count
    for start, end in spans:
        if not 0 <= start <= end <= count:
            raise DataError(
                f"{where}: the phrase [{start}, {end}) is not within the {count} words of the text."
            )
        marks[start:end] = [True] * (end - start)
    return tuple(marks)
