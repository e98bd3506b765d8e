from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from .corpus import ALL
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
    raw, and of their headers only the subject is read. Dev is a tenth of train. With split=pooled, as in
    Jain and Wallace and those who follow them, both halves are put together and a fifth is drawn for test:
    their split by proportions, not message by message, as their draw was of other text.
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

    def arrange(self, sources: Mapping[str, Rows]) -> Mapping[str, Rows]:
        if self.options.split == "by-date":
            return sources
        together = Rows(
            " and ".join(rows.origin for rows in sources.values()),
            _one_after_another(rows.rows for rows in sources.values()),
            any(rows.tokenised for rows in sources.values()),
            "both halves",
            (72, 8, 20),
        )
        return {ALL: together}

    def read_folder(self, folder: Path) -> Mapping[str, Rows]:
        parts = {split: folder / f"20news-bydate-{split}" for split in ("train", "test")}
        if not parts["train"].is_dir():
            return super().read_folder(folder)
        groups = {group: group for group in self.labels}
        return {
            split: Rows(str(part), read_folders(part, groups, encoding="latin-1", clean=without_mail_header))
            for split, part in parts.items()
        }


def _one_after_another(streams: Iterable[RowStream]) -> RowStream:
    """The rows of several files, numbered through."""
    number = 0
    for stream in streams:
        for row in stream:
            yield replace(row, index=number)
            number += 1
