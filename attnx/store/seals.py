"""Seals: what the files of a folder must be for them to be what was written."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ..data.downloads import sha256_of

SEAL = "seal.json"


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
