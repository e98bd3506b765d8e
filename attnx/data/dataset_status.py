"""Which datasets are on this machine, and how the others are obtained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..errors import DataError
from ..registry.datasets import Dataset, PackageSource
from .access import Source

Status = Literal["downloaded", "your folder", "your folder is incomplete", "needs --data-dir", "download"]


@dataclass(frozen=True, slots=True)
class DatasetStatus:
    """One dataset and its local status."""

    name: str
    summary: str
    licence: str
    status: Status
    folder: str | None = None  # where it is, if it is on this machine
    source: str | None = None  # where it would be downloaded from
    bytes: int | None = None  # of the download, if it is known

    @property
    def label(self) -> str:
        """The status in words."""
        if self.status != "download":
            return self.status
        size = f", {size_in_words(self.bytes)}" if self.bytes else ""
        return f"download{size} from {self.source}"


def dataset_statuses(source: Source) -> list[DatasetStatus]:
    """Every dataset of the registry, by name; nothing is downloaded."""
    return [_status(source, name, dataset) for name, dataset in sorted(source.datasets.items())]


def _status(source: Source, name: str, dataset: Dataset) -> DatasetStatus:
    def found(status: Status, folder: str | None = None) -> DatasetStatus:
        return DatasetStatus(name, dataset.summary, dataset.licence, status, folder)

    try:
        here = source.where(name)
    except DataError:
        return found("your folder is incomplete")
    if here is not None:
        own = here.provenance["kind"] == "local"
        return found("your folder" if own else "downloaded", str(here.folder))
    if not dataset.sources:
        return found("needs --data-dir")
    first = dataset.sources[0]
    origin = first.index if isinstance(first, PackageSource) else "url"
    return DatasetStatus(name, dataset.summary, dataset.licence, "download", source=origin, bytes=first.bytes)


def size_in_words(count: int) -> str:
    """A number of bytes as kB or MB."""
    return f"{count / 1_000_000:.0f} MB" if count >= 1_000_000 else f"{count / 1000:.0f} kB"
