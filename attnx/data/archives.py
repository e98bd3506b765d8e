"""Unpacks archives safely: within limits of size, and never outside the target folder."""

from __future__ import annotations

import gzip
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from ..errors import DataError
from ..registry.datasets import ArchiveKind, is_inside

CHUNK = 1 << 20
GZIP = b"\x1f\x8b"  # the first bytes of a gzip file; the last four are its size
# What the standard library raises for archives that are damaged, encrypted or of an unknown kind.
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    UnicodeError,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much an archive may unpack to."""

    total: int = 8 << 30  # bytes
    members: int = 250_000
    ratio: int = 100  # unpacked bytes for every byte of the archive
    free: int = 1 << 20  # unpacked bytes allowed in any case: small texts compress well


LIMITS = Limits()


class _Content(Protocol):
    def read(self, size: int, /) -> bytes: ...


def unpacked_size(
    archive: Path, kind: ArchiveKind, members: Mapping[str, str], limits: Limits = LIMITS
) -> int:
    """About how many bytes the requested members take, as far as the archive states it."""
    packed = size = archive.stat().st_size
    with archive.open("rb") as raw, suppress(*_BROKEN):  # unpacking it will raise the error
        if kind == "zip" and zipfile.is_zipfile(raw):
            wanted = tuple(members.values()) or ("",)
            entries = zipfile.ZipFile(raw).infolist()
            size = sum(entry.file_size for entry in entries if entry.filename.startswith(wanted))
        elif raw.seek(0) == 0 and raw.read(2) == GZIP and (kind == "gzip" or not members):
            raw.seek(-4, 2)
            size = int.from_bytes(raw.read(4), "little")
    return min(size, limits.total, limits.free + packed * limits.ratio)


def extract(
    archive: Path,
    kind: ArchiveKind,
    members: Mapping[str, str],
    folder: Path,
    advance: Callable[[int], None],
    limits: Limits = LIMITS,
) -> dict[str, int]:
    """Write the requested members, or all, into a folder; return their local names and sizes.

    `advance` receives the position in the archive. If this raises, the folder may hold part of the files
    and the caller deletes it.
    """
    try:
        with archive.open("rb") as raw:
            budget = _Budget(archive.stat().st_size, limits, lambda: advance(raw.tell()))
            chosen = _Chosen(archive.name, members)
            sizes = {
                local: _write(content, folder / local, archive.name, budget)
                for local, content in _entries(raw, kind, chosen, budget)
            }
    except _BROKEN as error:
        raise _damaged(archive, error) from error
    except gzip.BadGzipFile as error:  # an OSError, but not of the disk
        raise _damaged(archive, error) from error
    if missing := chosen.missing(sizes):
        raise DataError(f"{archive.name} has no member '{missing}'")
    return sizes


def _damaged(archive: Path, error: Exception) -> DataError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return DataError(f"{archive.name} cannot be unpacked: {reason.rstrip(':')}")


class _Chosen:
    """The requested members and the local name of each."""

    def __init__(self, archive: str, members: Mapping[str, str]) -> None:
        self.archive = archive
        self.members = members
        self.files = {inner: local for local, inner in members.items() if not inner.endswith("/")}
        self.folders = {inner: local for local, inner in members.items() if inner.endswith("/")}

    def local(self, name: str) -> str | None:
        """The local name of a requested member, or None; a path outside the folder is refused."""
        if not self.members:
            found: str | None = name
        elif name in self.files:
            found = self.files[name]
        else:
            inside = (folder for folder in self.folders if name.startswith(folder) and name != folder)
            found = next((self.folders[folder] + name[len(folder) :] for folder in inside), None)
        if found is not None and not is_inside(found):
            raise DataError(f"{self.archive} is refused: member '{name}' would be written outside its folder")
        return found

    def missing(self, written: Mapping[str, int]) -> str:
        """A requested member that the archive lacks, or an empty string."""
        for local, inner in self.members.items():
            if not (
                any(name.startswith(local) for name in written) if local.endswith("/") else local in written
            ):
                return inner
        return ""


class _Budget:
    """Counts members and unpacked bytes, and raises an error above the limits."""

    def __init__(self, packed: int, limits: Limits, advance: Callable[[], None]) -> None:
        self.limits = limits
        self.most = min(limits.total, limits.free + packed * limits.ratio)
        self.advance = advance
        self.members = self.bytes = 0

    def member(self, archive: str) -> None:
        self.members += 1
        if self.members > self.limits.members:
            raise DataError(f"{archive} is refused: it has more than {self.limits.members} members")

    def spend(self, count: int, archive: str) -> None:
        self.bytes += count
        if self.bytes > self.most:
            raise DataError(
                f"{archive} is refused: it unpacks to more than {self.most} bytes, too much for its size"
            )
        self.advance()


def _entries(
    raw: BinaryIO, kind: ArchiveKind, chosen: _Chosen, budget: _Budget
) -> Iterator[tuple[str, _Content]]:
    if kind == "zip":
        yield from _zip_entries(raw, chosen, budget)
    elif kind == "tar":
        yield from _tar_entries(raw, chosen, budget)
    elif kind == "gzip":
        with gzip.open(raw) as content:
            yield next(iter(chosen.members)), content
    else:
        yield next(iter(chosen.members)), raw


def _zip_entries(raw: BinaryIO, chosen: _Chosen, budget: _Budget) -> Iterator[tuple[str, _Content]]:
    with zipfile.ZipFile(raw) as archive:
        for entry in archive.infolist():
            budget.member(chosen.archive)
            local = None if entry.is_dir() else chosen.local(entry.filename)
            if local is None:
                continue
            mode = entry.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise DataError(f"{chosen.archive} is refused: member '{entry.filename}' is not a plain file")
            with archive.open(entry) as content:
                yield local, content


def _tar_entries(raw: BinaryIO, chosen: _Chosen, budget: _Budget) -> Iterator[tuple[str, _Content]]:
    with tarfile.open(fileobj=raw, mode="r:*") as archive:
        for entry in archive:
            budget.member(chosen.archive)
            local = None if entry.isdir() else chosen.local(entry.name)
            if local is None:
                # Skipping a member unpacks it too.
                budget.spend(entry.size, chosen.archive)
                continue
            content = archive.extractfile(entry) if entry.isreg() and not entry.issparse() else None
            if content is None:
                raise DataError(f"{chosen.archive} is refused: member '{entry.name}' is not a plain file")
            with content:
                yield local, content


def _write(content: _Content, path: Path, archive: str, budget: _Budget) -> int:
    """Copy one member to a new file, with this process's own permissions, and return its size."""
    size = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("xb")
    except (FileExistsError, NotADirectoryError) as error:
        raise DataError(f"{archive} is refused: it contains '{path.name}' twice") from error
    with file:
        while chunk := content.read(CHUNK):
            budget.spend(len(chunk), archive)
            file.write(chunk)
            size += len(chunk)
    return size
