"""Datasets of the registry: list, locate, fetch and delete them, and export the examples of a task.

Every function is a subcommand of `attnx data`, in Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .api.setup import find_source, installed_here
from .data.access import Fetched, Source
from .data.dataset_status import DatasetStatus, dataset_statuses
from .data.exported import ExportedExample, Split, check_split, exported_examples
from .disk import write_file
from .errors import UsageError
from .progress import Progress

if TYPE_CHECKING:
    from .api.arguments import FolderLike, LimitLike, Names

__all__ = [  # noqa: RUF022 - functions first
    "list",
    "where",
    "fetch",
    "clear",
    "export",
    "DatasetStatus",
    "Fetched",
    "Cleared",
    "ExportedExample",
]


@dataclass(frozen=True, slots=True)
class Cleared:
    """Downloads that were deleted.

    Attributes:
        bytes: how much space is free again.
        folder: the folder of downloads.
        also: other datasets that shared these downloads.
    """

    bytes: int
    folder: Path
    also: tuple[str, ...]


def list(*, data_dir: FolderLike | None = None, without: Names = ()) -> tuple[DatasetStatus, ...]:
    """List all known datasets, and whether they are on this machine. Nothing is downloaded.

    Args:
        data_dir: a folder with datasets of your own; by default the one that ATTNX_DATA names.
        without: plugins to switch off, one name or several.

    Returns:
        One entry per dataset, in alphabetical order.

    Raises:
        DataError: the folder does not exist or cannot be read.
    """
    return tuple(dataset_statuses(_source(data_dir, without)))


def where(name: str, *, data_dir: FolderLike | None = None, without: Names = ()) -> Path:
    """Give the folder of a dataset that is on this machine. Nothing is downloaded.

    Args:
        name: the name of the dataset, as `attnx data list` shows it.
        data_dir: a folder with datasets of your own; by default the one that ATTNX_DATA names.
        without: plugins to switch off, one name or several.

    Returns:
        The folder with its files.

    Raises:
        DataError: the registry has no such dataset, or it is not on this machine.
    """
    source = _source(data_dir, without)
    found = source.where(name)
    if found is None:
        raise source.missing(name)
    return found.folder


def fetch(name: str, *, data_dir: FolderLike | None = None, without: Names = ()) -> Fetched:
    """Give the folder of a dataset, and download the dataset first if it is not on this machine.

    Args:
        name: the name of the dataset, as `attnx data list` shows it.
        data_dir: a folder with datasets of your own; by default the one that ATTNX_DATA names.
        without: plugins to switch off, one name or several.

    Returns:
        The folder with its files, and where they came from.

    Raises:
        DataError: the registry has no such dataset, it could not be fetched, or its files are damaged.
        MachineError: the disk is full.
    """
    return _source(data_dir, without).fetch(name)


def fetch_folder(name: str) -> Path:
    """Give the folder of a dataset: `attnx.fetch_dataset` of version 0.1."""
    return fetch(name).folder


def clear(name: str | None = None, *, without: Names = ()) -> Cleared:
    """Delete downloads; folders of your own are never touched.

    Args:
        name: the name of a dataset; by default all downloads are deleted.
        without: plugins to switch off, one name or several.

    Returns:
        How much was deleted, and which other datasets went with it.

    Raises:
        DataError: the registry has no such dataset.
    """
    from .data.cache import Cache
    from .store.home import home

    source = Source(datasets=installed_here(without).registry.datasets)
    chosen = source.datasets if name is None else {name: source.dataset(name)}
    cache = Cache(home() / "data")
    sources = [one for dataset in chosen.values() for one in dataset.sources]
    folders = {found for one in sources if (found := cache.find(one))}
    also = sorted(
        other
        for other, dataset in source.datasets.items()
        if other not in chosen and any(cache.find(one) in folders for one in dataset.sources)
    )
    freed = sum(cache.remove(one) for one in sources)
    if name is None:
        freed += cache.remove_rest()
    return Cleared(freed, cache.root, tuple(also))


def export(
    task: str,
    *,
    split: Split = "all",
    limit: LimitLike | None = None,
    data_dir: FolderLike | None = None,
    out: FolderLike | None = None,
    without: Names = (),
) -> tuple[ExportedExample, ...]:
    """Give the examples of a task, to compute scores elsewhere.

    Scores come back with the importance method `precomputed`: lines {"id": ..., "scores": [...]}, one number
    per unit.

    Args:
        task: the name of a task, with its options.
        split: "train", "dev", "test" or "all".
        limit: the largest number of examples of each split, e.g. 500 or "train=500,test=200".
        data_dir: a folder with datasets of your own; by default the one that ATTNX_DATA names.
        out: a file to which the examples are written as JSON lines.
        without: plugins to switch off, one name or several.

    Returns:
        One record per example.

    Raises:
        UsageError: there is no such task or split, or the file cannot be written.
        DataError: data is missing or unusable.
    """
    from .api.load import task_data
    from .request.spec import Choice, Limit

    check_split(split)
    limits = Limit() if limit is None else Limit.parse(str(limit))
    data = task_data(Choice.parse(task), installed_here(without), limits, data_dir=data_dir)
    found = exported_examples(data, split)
    if out is not None:
        try:
            write_file(Path(out), "".join(f"{example.to_json()}\n" for example in found))
        except OSError as error:
            raise UsageError(f"Cannot write '{out}': {error.strerror}.") from error
    return found


def _source(data_dir: FolderLike | None, without: Names) -> Source:
    return find_source(installed_here(without), data_dir, Progress())
