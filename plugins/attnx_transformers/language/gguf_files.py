"""GGUF files, the format of llama.cpp: weights, tokenizer and chat template in one file, nothing pickled."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from attnx.plugin import DataError, UsageError

NEEDED = ("gguf", "accelerate")
SIZES = (
    *("embedding_length", "feed_forward_length", "vocab_size", "expert_count"),
    *("head_count", "head_count_kv", "key_length", "value_length"),
)


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


def require_accelerate(device_map: str) -> None:
    """Refuse to spread layers over devices where the package that does it is not installed."""
    if importlib.util.find_spec("accelerate") is None:
        raise UsageError(f"device_map={device_map} needs accelerate: pip install 'attnx[language]'")


def check_header(file: Path) -> None:
    """Refuse a file whose header is cut off, or asks for more than its weights can be.

    Its reader goes on beyond the end of a file, for as many values as a list is said to have, and sizes that
    do not fit are noticed only after so much memory was taken.
    """
    from gguf import GGUFReader

    class Whole(GGUFReader):
        """Stops where the file does."""

        def _get(self, offset: int, dtype: Any, count: int = 1, override_order: Any = None) -> Any:
            found = super()._get(offset, dtype, count, override_order)
            if len(found) < int(count):
                raise ValueError("it ends in the middle of a value")
            return found

    try:
        reader = Whole(file)
        widest = max((int(size) for tensor in reader.tensors for size in tensor.shape), default=0)
        for key, field in reader.fields.items():
            name = key.rpartition(".")[2]
            most = len(reader.tensors) if name == "block_count" else widest if name in SIZES else None
            asked = max((int(field.parts[at][0]) for at in field.data), default=0) if most is not None else 0
            if most is not None and asked > most:
                raise ValueError(f"it asks for {key}={asked}; its weights have room for {most}")
    except Exception as error:  # a file of anybody's can make its reader raise anything
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"'{file}' cannot be loaded: {reason}.") from error
