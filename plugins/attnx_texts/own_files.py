from __future__ import annotations

import hashlib
import os
from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from attnx.plugin import DataError, Source, Task, TaskData, UsageError, did_you_mean_path

from .corpus import ALL, make_data
from .file_options import FileOptions
from .label_names import SENTIMENT
from .options import CsvOptions, JsonlOptions, MarkedJsonlOptions
from .preprocessing import splitter_of
from .readers.delimited import read_table
from .readers.jsonl import read_jsonl
from .rows import Rows, RowStream
from .samples import make_sample


class _OwnFiles(Task):
    provides: ClassVar[tuple[str, ...]] = ("words",)
    name: str
    options: CsvOptions | JsonlOptions
    tokenised: bool = False  # whether texts are split at white space only

    def load(self, source: Source) -> TaskData:
        paths = {
            split: find_own_file(path, source) for split, path in files_given(self.options, self.name).items()
        }
        sources = {
            split: Rows(str(path), self.read_file(path), self.tokenised) for split, path in paths.items()
        }
        said = {"kind": "local", **provenance_of(paths)}
        return make_data(sources, self.options, None, said, raw_text=source.raw_text)

    def units_of(self, text: str) -> tuple[str, ...]:
        return splitter_of(self.options, self.tokenised).split(text)

    def spans_of(self, text: str) -> tuple[tuple[int, int], ...]:
        return splitter_of(self.options, self.tokenised).locate(text)

    def sample(self) -> TaskData:
        return make_sample(SENTIMENT)

    @abstractmethod
    def read_file(self, path: Path) -> RowStream:
        """The rows of one file."""


class CsvFiles(_OwnFiles):
    """Your own texts: one CSV or TSV file, or one for every split, with a header line.

    A single file is divided 80/10/10 at random with a fixed seed.
    """

    name = "csv"
    options: CsvOptions

    def __init__(self, options: CsvOptions) -> None:
        self.options = options

    def read_file(self, path: Path) -> RowStream:
        chosen = self.options
        return read_table(
            path, chosen.text_column, chosen.label, chosen.delimiter, query=chosen.query_column, options=True
        )


class JsonlFiles(_OwnFiles):
    """Your own texts: one JSON-lines file, or one for every split, compressed (.gz) or not.

    A single file is divided 80/10/10 at random with a fixed seed.
    """

    name = "jsonl"
    options: JsonlOptions

    def __init__(self, options: JsonlOptions) -> None:
        self.options = options

    def read_file(self, path: Path) -> RowStream:
        return read_jsonl(path, self.options.text_column, self.options.label, query=self.options.query_column)


class MarkedJsonlFiles(_OwnFiles):
    """Your own texts with the words that people marked: JSON-lines files, as for `jsonl`.

    A text without marks is not an error: metrics that need them leave it out and count it.
    """

    provides = ("words", "rationale")
    name = "jsonl-rationales"
    options: MarkedJsonlOptions
    tokenised = True

    def __init__(self, options: MarkedJsonlOptions) -> None:
        self.options = options

    def read_file(self, path: Path) -> RowStream:
        return read_jsonl(
            path,
            self.options.text_column,
            self.options.label,
            self.options.rationale,
            self.options.query_column,
        )


def files_given(options: FileOptions, task: str) -> dict[str, Path]:
    """The files that the options name, by split; one file alone is divided."""
    splits = {"train": options.train, "dev": options.dev, "test": options.test}
    given = {split: path for split, path in splits.items() if path is not None}
    if options.file is not None and not given:
        return {ALL: options.file}
    if options.file is not None or "test" not in given:
        raise UsageError(
            f"Task '{task}' needs {task}:file=PATH, which it divides, or {task}:train=PATH,test=PATH, with "
            "dev=PATH or without. For a model that is trained already, test=PATH is enough."
        )
    return given


def find_own_file(path: Path, source: Source) -> Path:
    """The file in the working directory, or else in the data directory."""
    path = Path(os.path.expanduser(path))  # a user that is unknown stays as written
    places = [path] if source.directory is None else [path, source.directory / path]
    try:
        for place in places:
            if place.is_file():
                return place
        for place in places:
            if place.is_dir():
                raise DataError(f"'{place}' is a folder; give a file in it.")
    except OSError as error:
        raise _unreadable(path, error) from error
    nearest = next(filter(None, map(did_you_mean_path, places)), "")
    near = sorted(other.name for other in path.parent.glob(f"*{path.suffix}"))[:5] if path.suffix else []
    there = nearest or (f" There are: {', '.join(near)}." if near else "")
    raise DataError(f"There is no file '{' or '.join(map(str, places))}'.{there}")


def provenance_of(paths: dict[str, Path]) -> dict[str, str]:
    said = {}
    for split, path in paths.items():
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise _unreadable(path, error) from error
        said[f"{split} file"] = f"{path.name} sha256 {found}"
    return said


def _unreadable(path: Path, error: OSError) -> DataError:
    return DataError(f"'{path}' cannot be read: {error.strerror or error}.")
