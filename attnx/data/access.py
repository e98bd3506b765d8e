"""Where the files of a dataset come from: a folder, the cache, a package or an address, in this order."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DataError, did_you_mean
from ..progress import Progress
from ..registry.datasets import Dataset, RemoteSource
from .cache import Cache
from .downloads import sha256_of


@dataclass(frozen=True, slots=True)
class Fetched:
    """A folder that holds a dataset, and which bytes these are."""

    folder: Path
    provenance: dict[str, str]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a task finds its files."""

    directory: Path | None = None
    datasets: Mapping[str, Dataset] = field(default_factory=dict)
    cache: Path | None = None
    offline: bool = False
    instead: str = ""  # a task that needs no files, for one who cannot get his
    progress: Progress = field(default_factory=lambda: Progress("off"), compare=False)
    raw_text: bool = False  # whether examples must keep their texts as the files have them

    def __post_init__(self) -> None:
        """Refuse a data directory that is none: other data would be taken instead, unnoticed."""
        if self.directory is None:
            return
        if not os.path.isdir(self.directory):
            wrong = "is not a folder" if os.path.exists(self.directory) else "does not exist"
            raise DataError(f"The data directory '{self.directory}' {wrong} (--data-dir, ATTNX_DATA).")
        _check_readable(self.directory)

    @classmethod
    def configured(
        cls,
        datasets: Mapping[str, Dataset],
        cache: Path,
        directory: Path | None = None,
        progress: Progress | None = None,
        instead: str = "",
    ) -> Source:
        """The source the environment asks for: ATTNX_DATA where no directory is given, ATTNX_OFFLINE."""
        given = os.environ.get("ATTNX_DATA")
        offline = os.environ.get("ATTNX_OFFLINE", "").lower() not in ("", "0", "false", "no")
        folder = directory or (Path(given) if given else None)
        return cls(folder, datasets, cache, offline, instead, progress or Progress("off"))

    def fetch(self, name: str) -> Fetched:
        """The folder of a dataset, downloaded when it is nowhere yet."""
        dataset = self.dataset(name)
        found = self._here(name, dataset)
        if found is not None:
            return found
        tried = [self._local_failure()]
        for source in dataset.sources:
            if self.cache is None or self.offline:
                reason = "offline (ATTNX_OFFLINE is set)" if self.offline else "no cache folder to keep it in"
                tried.append(f"{source.title}: {reason}")
                continue
            try:
                folder = Cache(self.cache, self.progress).obtain(source, name)
            except DataError as error:
                tried.append(str(error))
            else:
                return Fetched(folder, _provenance(name, dataset, source))
        raise self._unobtainable(name, dataset.expects, tried)

    def where(self, name: str) -> Fetched | None:
        """The folder of a dataset as far as it is on this machine, without downloading anything."""
        return self._here(name, self.dataset(name))

    def dataset(self, name: str) -> Dataset:
        """What the registry says of a dataset; an error names the nearest one."""
        if name not in self.datasets:
            known = ", ".join(sorted(self.datasets)) or "none"
            raise DataError(
                f"Unknown dataset '{name}'.{did_you_mean(name, self.datasets)} Available: {known}."
            )
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
        """The folder of the data directory that a dataset would be read from."""
        if self.directory is None:
            return None
        if name not in self.datasets:  # only its task knows which files it takes
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
        """DIR/name or DIR itself, when all files of one layout are there, and these files."""
        if self.directory is None:
            return None
        own = self.directory / name
        if os.path.isdir(own):
            _check_readable(own)
        # Where nothing says which files to expect, a folder of that name is taken as it is.
        places = [(folder, patterns) for folder in (own, self.directory) for patterns in layouts]
        for folder, patterns in places or [(own, ("**/*",))]:
            files = _matching(folder, patterns)
            if files:
                return folder, files
        if os.path.isdir(own):
            # A folder of that name was meant to be used: taking other data instead would go unnoticed.
            raise DataError(f"'{own}' is not a complete '{name}': it must hold {expects}.")
        return None

    def _unobtainable(self, name: str, expects: str, tried: list[str]) -> DataError:
        instead = f"; or choose a task that works offline, such as {self.instead}" if self.instead else ""
        return DataError(
            f"Dataset '{name}' cannot be had. Tried: {'; '.join(tried)}. Pass --data-dir or set ATTNX_DATA "
            f"to a folder with {expects}{instead}."
        )

    def _local_failure(self) -> str:
        return f"'{self.directory}' does not hold it" if self.directory else "no local folder was given"


def _check_readable(folder: Path) -> None:
    if not os.access(folder, os.R_OK | os.X_OK):
        raise DataError(f"'{folder}' cannot be read: permission denied. Open it, or give another --data-dir.")


def _matching(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    """The files that match, or none at all when a pattern has no match."""
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
