"""The folder of everything attnx keeps, and writing to it: aside and renamed, never half."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs

from ..errors import UsageError

ABANDONED = 24 * 3600  # seconds


def home() -> Path:
    """The folder of everything attnx keeps: ATTNX_HOME, or the user's cache folder."""
    given = os.environ.get("ATTNX_HOME")
    return Path(given) if given else platformdirs.user_cache_path("attnx")


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


@contextmanager
def written_aside(final: Path) -> Iterator[Path]:
    """A temporary folder beside `final`, moved into its place only when all went well."""
    final.parent.mkdir(parents=True, exist_ok=True)
    _clear_abandoned(final.parent)
    hidden = tempfile.TemporaryDirectory(prefix=".writing-", dir=final.parent, ignore_cleanup_errors=True)
    with hidden as name:
        temporary = Path(name) / final.name
        temporary.mkdir()  # with the usual mode: the hidden one is closed to everybody else
        yield temporary
        _replace(final, temporary)


def replace_file(final: Path, content: bytes) -> None:
    """Write a file in the place of another: at every moment one of them is there, and whole."""
    final.parent.mkdir(parents=True, exist_ok=True)
    _clear_abandoned(final.parent)
    hidden = tempfile.TemporaryDirectory(prefix=".writing-", dir=final.parent, ignore_cleanup_errors=True)
    with hidden as name:
        temporary = Path(name) / final.name
        temporary.write_bytes(content)
        temporary.replace(final)


def _clear_abandoned(folder: Path) -> None:
    """Delete what killed writers left: no writer takes a day from its first file to its last."""
    for path in folder.glob(".writing-*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > ABANDONED:
                shutil.rmtree(path, ignore_errors=True)


def _replace(final: Path, temporary: Path) -> None:
    """Move a folder into its place; of several writers at once the last one stays."""
    while True:
        try:
            temporary.rename(final)  # fails when somebody's folder is there
            return
        except NotADirectoryError as error:
            raise in_the_way(final) from error
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        aside = tempfile.TemporaryDirectory(prefix=".writing-", dir=final.parent)
        with aside as old, suppress(FileNotFoundError):  # another writer may have been faster
            final.rename(Path(old) / "old")


def delete_folder(folder: Path) -> None:
    """Delete a folder as if at once: whoever looks sees all of it or nothing."""
    with tempfile.TemporaryDirectory(prefix=".writing-", dir=folder.parent) as aside:
        folder.rename(Path(aside) / folder.name)


def in_the_way(final: Path) -> UsageError:
    return UsageError(f"'{final}' is a file where a folder is to be written: delete it or move it away.")
