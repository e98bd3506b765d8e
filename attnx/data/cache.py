"""The folder of downloaded datasets: a dataset is in it whole and verified, or not at all."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ..disk import HIDDEN, check_space
from ..errors import DataError, MachineError
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
            files = _manifest(folder)["files"]
            wrong = next((name for name, kept in files.items() if not _is_kept(folder / name, kept)), "")
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # no manifest, or not one of ours
            return None
        if wrong:
            _tell_changed(folder / wrong)
        return folder if files and not wrong else None

    def obtain(self, source: RemoteSource, label: str) -> Path:
        """The folder of a source, downloaded, verified and unpacked unless it is here."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self._clear_abandoned()
            with self._alone(source, label):
                # Another process may have fetched it while this one waited.
                return self.find(source) or self._fetch(source, label)
        except OSError as error:
            reason = error.strerror or str(error)
            raise MachineError(f"{source.title}: cannot write to '{self.root}': {reason}.") from error

    def _clear_abandoned(self) -> None:
        """Delete what killed fetches left: nobody holds its lock."""
        for path in self.root.glob(f"{HIDDEN}*"):
            with suppress(Timeout), FileLock(self._lock(path.name.removeprefix(HIDDEN)), timeout=0):
                _delete(path)

    def remove(self, source: RemoteSource) -> int:
        """Delete what is kept of a source, and return how many bytes that frees."""
        paths = (self._hidden(source.sha256), self.folder(source), self._part(source))
        return sum(self._remove(path, source.sha256, source.title) for path in paths)

    def remove_rest(self) -> int:
        """Delete downloads that no source accounts for, such as earlier versions; return the bytes freed.

        A user may keep files of his own here: what was not written by this class is left alone.
        """
        freed = 0
        for path in sorted(self.root.glob("*")):
            if unfinished := UNFINISHED.fullmatch(path.name):
                freed += self._remove(path, unfinished[1] or unfinished[2], path.name)
            elif os.path.isfile(path / MANIFEST):  # False, too, for a folder that may not be read
                freed += self._remove(path, _archive_of(path), path.name)
        return freed

    def _remove(self, path: Path, sha256: str, title: str) -> int:
        """Delete a folder or a partial download of an archive that nobody is fetching."""
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
                    path.rename(hidden)  # half a deletion must not look complete either
                _delete(hidden)
        except Timeout as error:
            raise DataError(f"{title} is being fetched by another process; try again later") from error
        except OSError as error:
            raise DataError(f"cannot delete '{path}': {error.strerror or error}") from error
        return freed

    def _fetch(self, source: RemoteSource, label: str) -> Path:
        final, hidden = self.folder(source), self._hidden(source.sha256)
        _delete(hidden)  # of a fetch that was killed
        hidden.mkdir()
        try:
            self._check_room(source)
            archive = self._download(source, label, hidden)
            self._check_unpacked_room(source, archive)
            files = hidden / "files"
            files.mkdir()
            with self._stage(f"{label}: unpacking", archive.stat().st_size) as advance:
                names = extract(archive, source.archive, source.members, files, advance)
            kept = {name: _kept(files / name) for name in names}
            manifest = {"source": source.provenance, "files": kept}
            (files / MANIFEST).write_text(canonical_json(manifest), encoding="utf-8")
            if final.exists():  # damaged, or it would have been found
                final.rename(hidden / "damaged")
            files.rename(final)
        finally:
            _delete(hidden)
        return final

    def _check_room(self, source: RemoteSource) -> None:
        """Refuse a disk without room for an archive and what is in it, which takes as much at least."""
        part = self._part(source)
        have = part.stat().st_size if part.exists() else 0
        check_space(self.root, 2 * (source.bytes or 0) - have, source.title, "ATTNX_HOME")

    def _check_unpacked_room(self, source: RemoteSource, archive: Path) -> None:
        """Refuse a disk without room for what is in an archive, which stays for the next attempt."""
        try:
            size = unpacked_size(archive, source.archive, source.members)
            check_space(self.root, size, f"{source.title}, unpacked,", "ATTNX_HOME")
        except MachineError:
            if not isinstance(source, PackageSource):
                archive.rename(self._part(source))
            raise

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
        lock = FileLock(self._lock(source.sha256))
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

    # What is unfinished is named by the archive: two choices of members share one partial download.

    def _part(self, source: RemoteSource) -> Path:
        return self.root / f".{source.sha256}.part"

    def _hidden(self, sha256: str) -> Path:
        return self.root / f"{HIDDEN}{sha256}"

    def _lock(self, sha256: str) -> Path:
        return self.root / f".{sha256}.lock"


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


def _manifest(folder: Path) -> Any:
    return json.loads((folder / MANIFEST).read_text(encoding="utf-8"))


def _kept(file: Path) -> list[int | str]:
    """What a file is known by: its size, the system's time of its last change, and its content."""
    stat = file.stat()
    return [stat.st_size, stat.st_ctime_ns, sha256_of(file)]


def _is_kept(file: Path, kept: Sequence[Any]) -> bool:
    """Whether a file is what was unpacked; one that was never touched since need not be read for it."""
    stat = file.stat()
    size, changed, sha256 = kept
    return bool(stat.st_size == size and (stat.st_ctime_ns == changed or sha256_of(file) == sha256))


@cache  # once for every file
def _tell_changed(file: Path) -> None:
    print(f"warning: '{file}' is not what was unpacked: fetching it again", file=sys.stderr)


def _archive_of(folder: Path) -> str:
    """The hash of the archive that a folder was unpacked from; its own name where that cannot be read."""
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
