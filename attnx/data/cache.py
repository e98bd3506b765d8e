"""The folder of downloaded datasets; each is there complete and verified, or not at all."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ..disk import HIDDEN, check_space
from ..errors import AttnxWarning, DataError, MachineError
from ..progress import Progress, Step
from ..registry.datasets import SHA256, PackageSource, RemoteSource
from ..request.spec import canonical_json, digest
from .archives import extract, unpacked_size
from .downloads import check_sha256, download, sha256_of
from .packages import download_package

MANIFEST = ".attnx.json"
MEGABYTE = 1_000_000
UNFINISHED = re.compile(rf"{re.escape(HIDDEN)}(.+)|\.([0-9a-f]{{64}})\.part")  # with the archive's hash


class Cache:
    """Unpacked archives, each in a folder named by the hash of the archive and the members used.

    A folder is prepared under a hidden name while a lock is held, and renamed when it is complete. So a
    killed download leaves nothing that looks like a dataset, and two downloads cannot mix.
    """

    def __init__(self, root: Path, progress: Progress | None = None) -> None:
        self.root = root
        self.progress = progress or Progress("off")

    def folder(self, source: RemoteSource) -> Path:
        """The folder where the files of a source belong."""
        return self.root / f"{source.slug}-{digest(source.sha256, canonical_json(source.members))}"

    def find(self, source: RemoteSource) -> Path | None:
        """The folder of a source if it is complete, otherwise None."""
        folder = self.folder(source)
        try:
            files = _manifest(folder)["files"]
            changed = next((name for name, state in files.items() if not _is_same(folder / name, state)), "")
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # no manifest, or not ours
            return None
        if changed:
            _warn_changed(folder / changed)
        return folder if files and not changed else None

    def obtain(self, source: RemoteSource, label: str) -> Path:
        """The folder of a source; downloaded, verified and unpacked if it is not here."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self._clear_abandoned()
            with self._alone(source, label):
                # Another process may have fetched it while this one waited.
                return self.find(source) or self._fetch(source, label)
        except OSError as error:
            reason = error.strerror or str(error)
            raise MachineError(
                f"{source.title}: cannot write to '{self.root}': {reason}. Set ATTNX_HOME to another folder."
            ) from error

    def _clear_abandoned(self) -> None:
        """Delete what killed downloads left behind: nobody holds its lock."""
        for path in self.root.glob(f"{HIDDEN}*"):
            with suppress(Timeout), FileLock(self._lock(path.name.removeprefix(HIDDEN)), timeout=0):
                _delete(path)

    def remove(self, source: RemoteSource) -> int:
        """Delete all files of a source; return the number of bytes freed."""
        paths = (self._hidden(source.sha256), self.folder(source), self._part(source))
        return sum(self._remove(path, source.sha256, source.title) for path in paths)

    def remove_rest(self) -> int:
        """Delete downloads that belong to no source, e.g. of earlier versions; return the bytes freed.

        Files that this class did not write are left alone.
        """
        freed = 0
        for path in sorted(self.root.glob("*")):
            if unfinished := UNFINISHED.fullmatch(path.name):
                freed += self._remove(path, unfinished[1] or unfinished[2], path.name)
            elif os.path.isfile(path / MANIFEST):  # also False for a folder without read permission
                freed += self._remove(path, _archive_of(path), path.name)
        return freed

    def _remove(self, path: Path, sha256: str, title: str) -> int:
        """Delete a folder or a partial download that no process is writing."""
        hidden = self._hidden(sha256)
        try:
            if not path.exists():
                return 0
            with FileLock(self._lock(sha256), timeout=0):
                freed = _size(path)
                if not path.is_dir():
                    path.unlink(missing_ok=True)
                    return freed
                if path != hidden:
                    _delete(hidden)
                    path.rename(hidden)  # a half-deleted folder must not look complete
                _delete(hidden)
        except Timeout as error:
            raise DataError(f"Another process is downloading {title}. Try again later.") from error
        except OSError as error:
            raise DataError(f"Cannot delete '{path}': {error.strerror or error}.") from error
        return freed

    def _fetch(self, source: RemoteSource, label: str) -> Path:
        final, hidden = self.folder(source), self._hidden(source.sha256)
        _delete(hidden)  # of a killed download
        hidden.mkdir()
        try:
            self._check_download_space(source)
            archive = self._download(source, label, hidden)
            self._check_unpacking_space(source, archive)
            files = hidden / "files"
            files.mkdir()
            with self._stage(f"{label}: unpacking", archive.stat().st_size) as advance:
                names = extract(archive, source.archive, source.members, files, advance)
            states = {name: _state(files / name) for name in names}
            manifest = {"source": source.provenance, "files": states}
            (files / MANIFEST).write_text(canonical_json(manifest), encoding="utf-8")
            if final.exists():  # damaged, otherwise it would have been found
                final.rename(hidden / "damaged")
            files.rename(final)
        finally:
            _delete(hidden)
        return final

    def _check_download_space(self, source: RemoteSource) -> None:
        """Refuse a disk without space for an archive and its content, which takes at least as much."""
        part = self._part(source)
        have = part.stat().st_size if part.exists() else 0
        check_space(self.root, 2 * (source.bytes or 0) - have, source.title, "ATTNX_HOME")

    def _check_unpacking_space(self, source: RemoteSource, archive: Path) -> None:
        """Refuse a disk without space for the content of an archive; keep the archive for the next try."""
        try:
            size = unpacked_size(archive, source.archive, source.members)
            check_space(self.root, size, f"{source.title}, unpacked,", "ATTNX_HOME")
        except MachineError:
            if not isinstance(source, PackageSource):
                archive.rename(self._part(source))
            raise

    def _download(self, source: RemoteSource, label: str, hidden: Path) -> Path:
        """Download the archive into the hidden folder and verify it."""
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
        """Hold the lock of a source; wait while another process downloads it."""
        lock = FileLock(self._lock(source.sha256))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            with self.progress.stage(f"{label}: waiting for another process that downloads it", 1) as step:
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
        """A progress stage in megabytes, from positions that may go back."""
        total = max(1, round(size / MEGABYTE))
        with self.progress.stage(label, total) as step:
            yield _Megabytes(step, total)

    # Partial downloads are named by the archive, so that two choices of members share one.

    def _part(self, source: RemoteSource) -> Path:
        return self.root / f".{source.sha256}.part"

    def _hidden(self, sha256: str) -> Path:
        return self.root / f"{HIDDEN}{sha256}"

    def _lock(self, sha256: str) -> Path:
        return self.root / f".{sha256}.lock"


class _Megabytes:
    """Turns positions in bytes into steps of whole megabytes."""

    def __init__(self, step: Step, total: int) -> None:
        self.step, self.total, self.reported = step, total, 0

    def __call__(self, position: int) -> None:
        # A client may hold a second copy for a moment, so the count is capped at the total.
        reached = min(self.total, position // MEGABYTE)
        if reached > self.reported:
            self.step(reached - self.reported, f"{reached} MB")
            self.reported = reached


def _manifest(folder: Path) -> Any:
    return json.loads((folder / MANIFEST).read_text(encoding="utf-8"))


def _state(file: Path) -> list[int | str]:
    """Size, time of the last change and checksum of a file."""
    stat = file.stat()
    return [stat.st_size, stat.st_ctime_ns, sha256_of(file)]


def _is_same(file: Path, state: Sequence[Any]) -> bool:
    """Whether a file is still as it was unpacked; an untouched file need not be read."""
    stat = file.stat()
    size, changed, sha256 = state
    return bool(stat.st_size == size and (stat.st_ctime_ns == changed or sha256_of(file) == sha256))


@cache  # once per file
def _warn_changed(file: Path) -> None:
    text = f"'{file}' was changed after it was unpacked; the dataset is downloaded again."
    warnings.warn(text, AttnxWarning, stacklevel=3)


def _archive_of(folder: Path) -> str:
    """The hash of the archive of a folder; the folder's name if it cannot be read."""
    try:
        found = str(_manifest(folder)["source"]["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return folder.name
    return found if re.fullmatch(SHA256, found) else folder.name


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size if path.exists() else 0


def _delete(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
