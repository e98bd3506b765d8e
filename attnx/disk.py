"""The disk: room for what will be written, and writing aside and moved into place, never half."""

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
ABANDONED = 24 * 3600  # seconds, where the system cannot say whether a writer lives
_HERE, _EXCHANGE = -100, 2  # Linux's AT_FDCWD and RENAME_EXCHANGE


def check_writable(folder: Path, setting: str) -> None:
    """Refuse a folder that cannot be written, before anything is computed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(
            f"Cannot write to '{folder}': {error.strerror}. Choose another folder with {setting}."
        ) from error


def check_space(folder: Path, needed: int, what: str, setting: str) -> None:
    """Refuse a disk without room for so many bytes, before the work that they come from."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < needed:
        raise MachineError(
            f"No room in '{folder}': {what} needs about {_size(needed)}, and {_size(free)} are free. "
            f"Free some space, or choose another folder with {setting}."
        )


def _size(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


@contextmanager
def written_aside(final: Path) -> Iterator[Path]:
    """A temporary folder beside `final`, moved into its place only when all went well."""
    with hidden_folder(final.parent) as hidden:
        temporary = hidden / final.name
        temporary.mkdir()  # with the usual mode: the hidden one is closed to everybody else
        yield temporary
        _put(temporary, final)


def write_file(path: Path, content: str | bytes, hidden_in: Path | None = None) -> None:
    """Write a file whole: a reader sees what was there before, or all of this.

    What is prepared is kept out of sight in the file's own folder, or in another one of the same disk.
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
    """Delete a folder as if at once: whoever looks sees all of it or nothing."""
    with hidden_folder(folder.parent) as hidden:
        folder.rename(hidden / folder.name)


@contextmanager
def hidden_folder(parent: Path) -> Iterator[Path]:
    """A folder that nobody lists, deleted in the end; those that killed processes left are deleted first."""
    parent.mkdir(parents=True, exist_ok=True)
    for path in parent.glob(f"{HIDDEN}*"):
        _clear_abandoned(path)
    folder, held = _make_held(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _make_held(parent: Path) -> tuple[Path, int]:
    """A new hidden folder, and the open file by which the system knows that its writer lives."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=HIDDEN, dir=parent))
        with suppress(FileNotFoundError):
            held = os.open(folder, os.O_RDONLY)
            _hold(held, wait=True)
            if folder.exists():  # or somebody took it for abandoned before it was held
                return folder, held
            os.close(held)


def _clear_abandoned(folder: Path) -> None:
    """Delete a hidden folder whose writer is dead, or may be and has not written for a day."""
    try:
        held = os.open(folder, os.O_RDONLY)
    except OSError:  # it is gone, or somebody else's
        return
    try:
        known = _hold(held, wait=False)
        if known or time.time() - os.fstat(held).st_mtime > ABANDONED:
            shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:  # its writer lives
        pass
    finally:
        os.close(held)


def _hold(file: int, *, wait: bool) -> bool:
    """Hold a file until it is closed or this process ends; False where the system knows no such thing."""
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
    """Move a folder into its place, where what was there is seen until then; the last writer's stays."""
    while True:
        try:
            folder.rename(final)  # fails when somebody's folder is there
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


def exchange(one: Path, other: Path) -> bool:
    """Let two folders change places at once; False where the system or the disk cannot, or one is gone."""
    call = getattr(_libc(), "renameat2", None) if sys.platform == "linux" else None
    return call is not None and call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def in_the_way(final: Path) -> UsageError:
    return UsageError(f"'{final}' is a file where a folder is to be written: delete it or move it away.")
