"""Checks free space, and writes files and folders so that none is ever half-written."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from .errors import MachineError, UsageError

if sys.platform != "win32":
    import fcntl

HIDDEN = ".writing-"
ABANDONED = 24 * 3600  # seconds, if the system cannot say whether the writing process still runs
_HERE, _EXCHANGE = -100, 2  # Linux's AT_FDCWD and RENAME_EXCHANGE


def check_writable(folder: Path, setting: str) -> None:
    """Refuse a folder that cannot be written to, before anything is computed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(
            f"Cannot write to '{folder}': {error.strerror}. Choose another folder with {setting}."
        ) from error


def check_space(folder: Path, needed: int, what: str, setting: str) -> None:
    """Refuse a disk without space for this many bytes, before anything is computed."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < needed:
        raise MachineError(
            f"Not enough space in '{folder}': {what} needs about {_size(needed)}, {_size(free)} are free. "
            f"Free some space, or choose another folder with {setting}."
        )


def _size(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


@contextmanager
def written_aside(final: Path) -> Iterator[Path]:
    """A temporary folder that becomes `final` only if no error occurs."""
    with hidden_folder(final.parent) as hidden:
        temporary = hidden / final.name
        temporary.mkdir()  # with the usual permissions; the hidden folder is private
        yield temporary
        _put(temporary, final)


def write_file(path: Path, content: str | bytes, hidden_in: Path | None = None) -> None:
    """Write a file in one step: a reader sees the old content or the new, never a part.

    The content is prepared in a hidden folder next to the file, or in `hidden_in` on the same disk.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    final = path.resolve()
    if final.exists() and not final.is_file():  # a pipe, or a terminal
        final.write_bytes(data)
        return
    with hidden_folder(hidden_in or final.parent) as hidden:
        (hidden / final.name).write_bytes(data)
        (hidden / final.name).replace(final)


def delete_folder(folder: Path) -> None:
    """Delete a folder in one step: a reader sees all of it or nothing."""
    with hidden_folder(folder.parent) as hidden:
        folder.rename(hidden / folder.name)


@contextmanager
def hidden_folder(parent: Path) -> Iterator[Path]:
    """A hidden folder that is deleted at the end; those left by killed processes are deleted first."""
    parent.mkdir(parents=True, exist_ok=True)
    for path in parent.glob(f"{HIDDEN}*"):
        _clear_abandoned(path)
    folder, lock = _make_locked(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _make_locked(parent: Path) -> tuple[Path, int]:
    """A new hidden folder, and the open lock file that shows that its process still runs."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=HIDDEN, dir=parent))
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY)
            _lock(lock, wait=True)
            if folder.exists():  # otherwise another process deleted it as abandoned before it was locked
                return folder, lock
            os.close(lock)


def _clear_abandoned(folder: Path) -> None:
    """Delete a hidden folder whose process has ended, or is unknown and has not written for a day."""
    try:
        lock = os.open(folder, os.O_RDONLY)
    except OSError:  # it was deleted, or belongs to another user
        return
    try:
        known = _lock(lock, wait=False)
        if known or time.time() - os.fstat(lock).st_mtime > ABANDONED:
            shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:  # its process still runs
        pass
    finally:
        os.close(lock)


def _lock(file: int, *, wait: bool) -> bool:
    """Lock a file until it is closed or this process ends; False if the system has no such locks."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError:  # some network disks
        return False
    return True


def _put(folder: Path, final: Path) -> None:
    """Move a folder into place in one step; of several writers, the last wins."""
    while True:
        try:
            folder.rename(final)  # fails if a folder is already there
            return
        except NotADirectoryError as error:
            raise in_the_way(final) from error
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if exchange(folder, final):
            return
        with suppress(FileNotFoundError):  # another writer may have been faster
            final.rename(Path(tempfile.mkdtemp(dir=folder.parent)) / final.name)


def exchange(first: Path, second: Path) -> bool:
    """Swap two folders in one step; False if the system or disk cannot, or one is missing."""
    call = getattr(_libc(), "renameat2", None) if sys.platform == "linux" else None
    return call is not None and call(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE) == 0


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def in_the_way(final: Path) -> UsageError:
    return UsageError(f"'{final}' is a file, but a folder must be written there. Delete or move the file.")
