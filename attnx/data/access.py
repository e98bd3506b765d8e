"""Finds the files of a dataset: in the user's folder, then in the cache, then by download."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DataError, did_you_mean, did_you_mean_path
from ..progress import Progress
from ..registry.datasets import Dataset, RemoteSource
from .cache import Cache
from .downloads import sha256_of


@dataclass(frozen=True, slots=True)
class Fetched:
    """The folder of a dataset and where its content came from."""

    folder: Path
    provenance: dict[str, str]


@dataclass(frozen=True, slots=True)
class Source:
    """Where tasks find their files."""

    directory: Path | None = None
    datasets: Mapping[str, Dataset] = field(default_factory=dict)
    cache: Path | None = None
    offline: bool = False
    fallback_task: str = ""  # a task that works without files, named in errors
    progress: Progress = field(default_factory=lambda: Progress("off"), compare=False)
    raw_text: bool = False  # whether examples must keep their texts as the files have them

    def __post_init__(self) -> None:
        """Refuse a data directory that does not exist: other data would be used without notice."""
        if self.directory is None:
            return
        if not os.path.isdir(self.directory):
            wrong = "is not a folder" if os.path.exists(self.directory) else "does not exist"
            nearest = did_you_mean_path(self.directory, folder=True)
            raise self.data_error(
                f"The data directory '{self.directory}' {wrong} (--data-dir, ATTNX_DATA).{nearest}"
            )
        self._check_readable(self.directory)

    @classmethod
    def configured(
        cls,
        datasets: Mapping[str, Dataset],
        cache: Path,
        directory: Path | None = None,
        progress: Progress | None = None,
        fallback_task: str = "",
    ) -> Source:
        """The source that the arguments and the variables ATTNX_DATA and ATTNX_OFFLINE describe."""
        given = os.environ.get("ATTNX_DATA")
        offline = os.environ.get("ATTNX_OFFLINE", "").lower() not in ("", "0", "false", "no")
        folder = directory or (Path(given) if given else None)
        return cls(folder, datasets, cache, offline, fallback_task, progress or Progress("off"))

    def fetch(self, name: str) -> Fetched:
        """The folder of a dataset, downloaded if it is not on this machine."""
        dataset = self.dataset(name)
        found = self._here(name, dataset)
        if found is not None:
            return found
        tried = [self._local_failure()]
        for source in dataset.sources:
            if self.cache is None or self.offline:
                reason = "offline (ATTNX_OFFLINE is set)" if self.offline else "no cache folder"
                tried.append(f"{source.title}: {reason}")
                continue
            try:
                folder = Cache(self.cache, self.progress).obtain(source, name)
            except DataError as error:
                tried.append(str(error))
            else:
                return Fetched(folder, _provenance(name, dataset, source))
        raise self.missing(name, "; ".join(tried))

    def where(self, name: str) -> Fetched | None:
        """The folder of a dataset if it is on this machine; nothing is downloaded."""
        return self._here(name, self.dataset(name))

    def dataset(self, name: str) -> Dataset:
        """A dataset of the registry; an error names the nearest one."""
        if name not in self.datasets:
            known = ", ".join(sorted(self.datasets)) or "none"
            nearest = did_you_mean(name, self.datasets)
            raise DataError(f"Unknown dataset '{name}'.{nearest} Available: {known}.")
        return self.datasets[name]

    def _here(self, name: str, dataset: Dataset) -> Fetched | None:
        local = self._local(name, dataset.layouts, dataset.expects)
        if local is not None:
            return Fetched(local.folder, local.provenance | {"licence": dataset.licence})
        if self.cache is None:
            return None
        cache = Cache(self.cache, self.progress)
        found = ((cache.find(source), source) for source in dataset.sources)
        return next((Fetched(f, _provenance(name, dataset, source)) for f, source in found if f), None)

    def local_folder(self, name: str) -> Path | None:
        """The folder of a dataset in the data directory; None if it is not there."""
        if self.directory is None:
            return None
        if name not in self.datasets:  # only the task knows which files it reads
            own = self.directory / name
            return own if os.path.isdir(own) else self.directory
        dataset = self.datasets[name]
        found = self._place(name, dataset.layouts, dataset.expects)
        return found[0] if found else None

    def _local(self, name: str, layouts: tuple[tuple[str, ...], ...], expects: str) -> Fetched | None:
        found = self._place(name, layouts, expects)
        return Fetched(found[0], _local_provenance(name, *found)) if found else None

    def _place(
        self, name: str, layouts: tuple[tuple[str, ...], ...], expects: str
    ) -> tuple[Path, list[Path]] | None:
        """DIR/name, or DIR itself, if it holds all files of one layout; and these files."""
        if self.directory is None:
            return None
        own = self.directory / name
        if os.path.isdir(own):
            self._check_readable(own)
        # If no layout says which files to expect, a folder of that name is used as it is.
        places = [(folder, patterns) for folder in (own, self.directory) for patterns in layouts]
        for folder, patterns in places or [(own, ("**/*",))]:
            files = _matching(folder, patterns)
            if files:
                return folder, files
        if os.path.isdir(own):
            # The user meant this folder: other data must not be used without notice.
            raise self.data_error(f"'{own}' is not a complete '{name}' dataset: it must hold {expects}.")
        return None

    def missing(self, name: str, tried: str = "") -> DataError:
        """The error of a dataset that is not on this machine; with `tried`, its download failed too."""
        dataset = self.dataset(name)
        problem = f"could not be obtained. Tried: {tried}." if tried else "is not on this machine."
        fetch = (
            f"Fetch it with 'attnx data fetch {name}', or pass" if dataset.sources and not tried else "Pass"
        )
        return self.data_error(
            f"Dataset '{name}' {problem} {fetch} --data-dir (or set ATTNX_DATA) with a folder that holds "
            f"{dataset.expects}."
        )

    def data_error(self, problem: str) -> DataError:
        """An error of missing data that also names a task that works without files."""
        offline = f" The task {self.fallback_task} needs no files." if self.fallback_task else ""
        return DataError(f"{problem}{offline}")

    def _check_readable(self, folder: Path) -> None:
        if not os.access(folder, os.R_OK | os.X_OK):
            raise self.data_error(f"Cannot read '{folder}': permission denied. Use another --data-dir.")

    def _local_failure(self) -> str:
        return f"'{self.directory}' does not hold it" if self.directory else "no local folder was given"


def _matching(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    """The files that match; none if one of the patterns has no match."""
    matches = [sorted(path for path in folder.glob(pattern) if os.path.isfile(path)) for pattern in patterns]
    return [path for paths in matches for path in paths] if all(matches) else []


def _local_provenance(name: str, folder: Path, files: list[Path]) -> dict[str, str]:
    if len(files) == 1:
        found = sha256_of(files[0])
    else:
        lines = sorted(f"{sha256_of(path)}  {path.relative_to(folder).as_posix()}\n" for path in set(files))
        found = hashlib.sha256("".join(lines).encode()).hexdigest()
    return {"dataset": name, "kind": "local", "folder": str(folder), "sha256": found}


def _provenance(name: str, dataset: Dataset, source: RemoteSource) -> dict[str, str]:
    return {"dataset": name} | source.provenance | {"licence": dataset.licence}
