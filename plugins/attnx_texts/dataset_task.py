"""What the named text datasets share: fetch, find the files, read, make examples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from attnx.plugin import DataError, Source, Task, TaskData

from .corpus import make_data
from .label_names import Labels
from .options import DatasetOptions
from .preprocessing import splitter_of
from .readers.delimited import read_table
from .readers.jsonl import read_jsonl
from .readers.split_files import ORIGINAL, find_split_files
from .rows import Rows, RowStream
from .samples import make_sample


class DatasetTask(Task):
    """A dataset with known labels, a file a split; subclasses say what is different about theirs."""

    provides: ClassVar[tuple[str, ...]] = ("words",)
    dataset: ClassVar[str]
    known_labels: tuple[str, ...]
    kinds: ClassVar[tuple[str, ...]] = ("jsonl", "csv", "tsv")  # of files, by the end of their names
    tokenised: ClassVar[bool] = False  # published with words separated by spaces

    advice: ClassVar[str] = ""  # for files that lack a class

    options: DatasetOptions

    def __init__(self, options: DatasetOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        fetched = source.fetch(self.dataset)
        prefix, files = find_split_files(fetched.folder, self.options.files, self.kinds)
        if files:
            tokenised = self.tokenised or prefix == ORIGINAL
            sources = {
                split: Rows(str(path), self.read_file(path), tokenised) for split, path in files.items()
            }
            read = {"files": ", ".join(path.name for path in files.values())}
        else:
            sources, read = dict(self.read_folder(fetched.folder)), {}
        sources = dict(self.arrange(sources))
        labels = Labels(self.known_labels, self.labels, self.advice)
        said = {**fetched.provenance, **read}
        return make_data(sources, self.options, labels, said, raw_text=source.raw_text)

    def arrange(self, sources: Mapping[str, Rows]) -> Mapping[str, Rows]:
        """The sources as they are divided into splits: as they come."""
        return sources

    def units_of(self, text: str) -> tuple[str, ...]:
        return splitter_of(self.options, self.tokenised).split(text)

    def spans_of(self, text: str) -> tuple[tuple[int, int], ...]:
        return splitter_of(self.options, self.tokenised).locate(text)

    def sample(self) -> TaskData:
        return make_sample(self.labels)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that are used, in order."""
        return self.known_labels

    def read_file(self, path: Path) -> RowStream:
        """The rows of the file of one split."""
        return read_jsonl(path) if ".jsonl" in path.suffixes else read_table(path)

    def read_folder(self, folder: Path) -> Mapping[str, Rows]:
        """The rows of a folder that has no file for every split."""
        kinds = " or ".join(self.kinds)
        raise DataError(f"'{folder}' does not hold a train and a test file ({kinds}) of '{self.dataset}'.")
