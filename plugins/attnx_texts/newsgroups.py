from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .dataset_task import DatasetTask
from .label_names import NEWSGROUPS
from .options import NewsgroupsOptions
from .readers.folders import read_folders, without_mail_header
from .readers.jsonl import read_jsonl
from .readers.tab import read_tab
from .rows import Rows, RowStream


class Newsgroups(DatasetTask):
    """Messages of newsgroups, baseball against hockey unless others are chosen.

    The package's messages are lower-case letters and nothing else; those of the official archive are
    raw, and of their headers only the subject is read. Dev is a tenth of train.
    """

    dataset = "20-newsgroups"
    known_labels = NEWSGROUPS
    kinds = ("jsonl", "tab")
    options: NewsgroupsOptions

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.options.groups)

    def read_file(self, path: Path) -> RowStream:
        return read_jsonl(path) if ".jsonl" in path.suffixes else read_tab(path)

    def read_folder(self, folder: Path) -> Mapping[str, Rows]:
        parts = {split: folder / f"20news-bydate-{split}" for split in ("train", "test")}
        if not parts["train"].is_dir():
            return super().read_folder(folder)
        groups = {group: group for group in self.labels}
        return {
            split: Rows(str(part), read_folders(part, groups, encoding="latin-1", clean=without_mail_header))
            for split, part in parts.items()
        }
