"""The folder of downloaded datasets: a dataset is in it whole and verified, or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from .archives import extract
from .datasets import PackageSource, RemoteSource
from .downloads import check_sha256, download
from .errors import DataError
from .packages import download_package
from .progress import Progress, Step
from .spec import canonical_json, digest

MANIFEST = ".attnx.json"
MEGABYTE = 1_000_000


class Cache:
    """Unpacked archives, each in a folder named by the hash of the archive and the members taken.

    A folder is prepared under a hidden name while a lock is held and renamed when it is complete, so
    a fetch that was killed leaves nothing that looks like a dataset, and two never meet.
    """

    def __init__(self, root: Path, progress: Progress | None = None) -> None:
        self.root = root
        self.progress = progress or Progress("off")

    def folder(self, source: RemoteSource) -> Path:
        """Where a source's files are, or would be."""
        return self.root / f"{source.slug}-{digest(source.sha256, canonical_json(source.members))}"

    def find(self, source: RemoteSource) -> Path | None:
        """The folder of a source that is here complete, or None."""
        folder = self.folder(source)
        try:
            sizes = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
            whole = all((folder / name).stat().st_size == size for name, size in sizes.items())
        except (OSError, ValueError, KeyError):
            return None
        return folder if whole else None

    def obtain(self, source: RemoteSource, label: str) -> Path:
        """The folder of a source, downloaded, verified and unpacked unless it is here."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with self._alone(source, label):
                # Another process may have fetched it while this one waited.
                return self.find(source) or self._fetch(source, label)
        except OSError as error:
            reason = error.strerror or str(error)
            raise DataError(f"{source.title}: cannot write to '{self.root}': {reason}") from error

    def remove(self, source: RemoteSource) -> int:
        """Delete what is kept of a source, and return how many bytes that frees."""
        hidden = self._hidden(source)
        folders = [self.folder(source), self._part(source), hidden]
        if not any(path.exists() for path in folders):
            return 0
        try:
            with FileLock(self._lock(source), timeout=0):
                freed = sum(_size(path) for path in folders)
                _delete(hidden)
                if self.folder(source).exists():
                    self.folder(source).rename(hidden)  # half a deletion must not look complete either
                    _delete(hidden)
                self._part(source).unlink(missing_ok=True)
        except Timeout as error:
            raise DataError(f"{source.title} is being fetched by another process; try again later") from error
        except OSError as error:
            raise DataError(f"cannot delete '{self.folder(source)}': {error.strerror or error}") from error
        return freed

    def remove_rest(self) -> int:
        """Delete what no source accounts for, such as earlier versions; return how many bytes that frees."""
        rest = [path for path in self.root.glob("*") if path.suffix != ".lock"] if self.root.is_dir() else []
        freed = sum(_size(path) for path in rest)
        for path in rest:
            if path.is_dir():
                _delete(path)
            else:
                path.unlink(missing_ok=True)
        return freed

    def _fetch(self, source: RemoteSource, label: str) -> Path:
        final, hidden = self.folder(source), self._hidden(source)
        _delete(hidden)  # of a fetch that was killed
        hidden.mkdir()
        try:
            archive = self._download(source, label, hidden)
            files = hidden / "files"
            files.mkdir()
            with self._stage(f"{label}: unpacking", archive.stat().st_size) as advance:
                sizes = extract(archive, source.archive, source.members, files, advance)
            manifest = {"source": source.provenance, "files": sizes}
            (files / MANIFEST).write_text(canonical_json(manifest), encoding="utf-8")
            if final.exists():  # damaged, or it would have been found
                final.rename(hidden / "damaged")
            files.rename(final)
        finally:
            _delete(hidden)
        return final

    def _download(self, source: RemoteSource, label: str, hidden: Path) -> Path:
        """The verified archive, inside the hidden folder."""
        with self._stage(f"{label}: downloading {source.title}", source.bytes or 0) as advance:
            if isinstance(source, PackageSource):
                fresh = Path(tempfile.mkdtemp(dir=hidden))
                archive = download_package(source, fresh, advance)
                check_sha256(archive, source.sha256, source.title)
                return archive
            part = self._part(source)
            download(source, part, advance)
            archive = hidden / source.slug
            part.rename(archive)
            return archive

    @contextmanager
    def _alone(self, source: RemoteSource, label: str) -> Iterator[None]:
        """Hold the source's lock; wait for another process that fetches the same."""
        lock = FileLock(self._lock(source))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            with self.progress.stage(f"{label}: waiting for another process that fetches it", 1) as step:
                while not lock.is_locked:
                    try:
                        lock.acquire(timeout=1)
                    except Timeout:
                        step(0)
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _stage(self, label: str, size: int) -> Iterator[Callable[[int], None]]:
        """A stage of the progress told in megabytes, from positions that may go back."""
        total = max(1, round(size / MEGABYTE))
        with self.progress.stage(label, total) as step:
            yield _Megabytes(step, total)

    def _part(self, source: RemoteSource) -> Path:
        return self.root / f".{source.sha256}.part"

    def _hidden(self, source: RemoteSource) -> Path:
        return self.root / f".writing-{self.folder(source).name}"

    def _lock(self, source: RemoteSource) -> Path:
        # By the archive: two choices of members share one partial download.
        return self.root / f".{source.sha256}.lock"


class _Megabytes:
    """Turns positions in bytes into steps of whole megabytes."""

    def __init__(self, step: Step, total: int) -> None:
        self.step, self.total, self.told = step, total, 0

    def __call__(self, position: int) -> None:
        # A client keeps a second copy for a moment: no more than all can be done.
        reached = min(self.total, position // MEGABYTE)
        if reached > self.told:
            self.step(reached - self.told, f"{reached} MB")
            self.told = reached


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size if path.exists() else 0


def _delete(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
