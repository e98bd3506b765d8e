"""GGUF files, the format of llama.cpp: weights, tokenizer and chat template in one file, nothing pickled."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from attnx.plugin import DataError, UsageError

NEEDED = ("gguf", "accelerate")


def gguf_in(folder: Path) -> str:
    """The GGUF file of a folder, or nothing; several are refused, because nothing says which is meant."""
    found = sorted(path.name for path in folder.glob("*.gguf"))
    if len(found) > 1:
        raise DataError(f"'{folder}' has {len(found)} GGUF files ({', '.join(found[:5])}): name one of them.")
    return found[0] if found else ""


def require_gguf(name: str) -> None:
    """Refuse to read a GGUF file where the packages that read it are not installed."""
    missing = [package for package in NEEDED if importlib.util.find_spec(package) is None]
    if missing:
        raise UsageError(
            f"checkpoint={name} is a GGUF file; reading it needs {' and '.join(missing)}: "
            "pip install 'attnx[language]'"
        )
