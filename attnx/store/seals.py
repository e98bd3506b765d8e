"""Checksums of the files of a stored folder, so that damaged or edited files are noticed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from ..data.downloads import sha256_of
from ..errors import UsageError

SEAL = "seal.json"
_NOT_OURS = (
    FileNotFoundError,
    NotADirectoryError,
    IsADirectoryError,
    KeyError,
    TypeError,
    ValueError,
    RecursionError,
    UsageError,  # a choice in the report that nobody could have made
)
Read = TypeVar("Read")


def seal(folder: Path, name: str) -> None:
    """Write the name of a folder and the checksum of every file in it."""
    files = {file.name: sha256_of(file) for file in sorted(folder.iterdir())}
    text = json.dumps({"name": name, "sha256": files}, indent=1) + "\n"
    (folder / SEAL).write_text(text, encoding="utf-8")


def check_seal(folder: Path, files: Iterable[str]) -> str:
    """The name that a folder was sealed with; ValueError if it was renamed, or one of these files changed."""
    sealed = json.loads((folder / SEAL).read_text(encoding="utf-8"))
    name = str(sealed["name"])
    if folder.resolve().name != name:  # two folders, or what is in them, were exchanged
        raise ValueError(f"the folder of '{name}' was renamed")
    for file in files:
        if sealed["sha256"][file] != sha256_of(folder / file):
            raise ValueError(f"{file} was changed after it was written")
    return name


def read_sealed(
    folder: Path, file: str, read: Callable[[str], Read], name: Callable[[Read], str]
) -> Read | None:
    """The content of a sealed file; None if it is missing, damaged, edited or from another version.

    `name` gives the name that the seal must have.
    """
    while True:
        before = _which(folder)
        found = _read(folder, file, read, name)
        if found is not None or _which(folder) == before:  # otherwise another process has just replaced it
            return found


def _read(folder: Path, file: str, read: Callable[[str], Read], name: Callable[[Read], str]) -> Read | None:
    try:
        found = read((folder / file).read_text(encoding="utf-8"))
        return found if check_seal(folder, [file]) == name(found) else None
    except _NOT_OURS:
        return None


def _which(folder: Path) -> int:
    """The inode of a folder: it changes when another folder takes its place."""
    try:
        return folder.stat().st_ino
    except OSError:
        return 0
