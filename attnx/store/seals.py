"""Seals: what the files of a folder must be for them to be what was written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from ..data.downloads import sha256_of

SEAL = "seal.json"
_NOT_OURS = (
    FileNotFoundError,
    NotADirectoryError,
    IsADirectoryError,
    KeyError,
    TypeError,
    ValueError,
    RecursionError,
)
Read = TypeVar("Read")


def seal(folder: Path, name: str) -> None:
    """Write down what a folder is called and what every file in it holds."""
    files = {file.name: sha256_of(file) for file in sorted(folder.iterdir())}
    text = json.dumps({"name": name, "sha256": files}, indent=1) + "\n"
    (folder / SEAL).write_text(text, encoding="utf-8")


def check_seal(folder: Path, files: Iterable[str]) -> str:
    """The name under which a folder was sealed; ValueError where one of these files is not what was."""
    kept = json.loads((folder / SEAL).read_text(encoding="utf-8"))
    for file in files:
        if kept["sha256"][file] != sha256_of(folder / file):
            raise ValueError(f"{file} is not what was written")
    return str(kept["name"])


def read_sealed(
    folder: Path, file: str, read: Callable[[str], Read], name: Callable[[Read], str]
) -> Read | None:
    """What a sealed file holds; None where it is missing, damaged, edited or of another version.

    `name` is what the seal must call it.
    """
    while True:
        before = _which(folder)
        found = _read(folder, file, read, name)
        if found is not None or _which(folder) == before:  # or a writer has just replaced the folder
            return found


def _read(folder: Path, file: str, read: Callable[[str], Read], name: Callable[[Read], str]) -> Read | None:
    try:
        found = read((folder / file).read_text(encoding="utf-8"))
        return found if check_seal(folder, [file]) == name(found) else None
    except _NOT_OURS:
        return None


def _which(folder: Path) -> int:
    """What tells a folder from another of the same name."""
    try:
        return folder.stat().st_ino
    except OSError:
        return 0
