from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from attnx.plugin import DataError, read_json_lines

Scores = np.ndarray[Any, np.dtype[np.float64]]


def read_scores(file: Path) -> dict[str, Scores]:
    """Read one vector of finite numbers per id from a JSON-lines or NPZ file."""
    scores: dict[str, Scores] = {}
    for id_, given in _arrays(file) if file.suffix == ".npz" else _lines(file):
        if id_ in scores:
            raise DataError(f"{file} has scores for example '{id_}' twice: keep one of them.")
        scores[id_] = _checked(given, f"{file}: the scores of example '{id_}'")
    if not scores:
        raise DataError(f"{file} has no scores in it.")
    return scores


def _checked(given: Any, what: str) -> Scores:
    try:
        values = np.asarray(given)
    except ValueError as error:  # a ragged list
        raise DataError(f"{what} must be a list of numbers.") from error
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iuf"):
        raise DataError(f"{what} must be a list of numbers.")
    if not np.isfinite(values).all():
        raise DataError(f"{what} must be finite; number {int(np.argmin(np.isfinite(values)))} is not.")
    return values.astype(np.float64)


def _lines(file: Path) -> Iterator[tuple[str, Any]]:
    for number, entry in read_json_lines(file):
        if not entry.keys() >= {"id", "scores"}:
            raise DataError(f'\'{file}\', line {number}: expected {{"id": ..., "scores": [...]}}.')
        yield str(entry["id"]), entry["scores"]


UNREADABLE = (
    *(OSError, EOFError, KeyError, ValueError, TypeError, zipfile.BadZipFile, zlib.error),
    RuntimeError,  # a password, or an unknown compression
)


def _arrays(file: Path) -> Iterator[tuple[str, Any]]:
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            for id_ in arrays.files:
                yield id_, arrays[id_]
    except UNREADABLE as error:
        raise DataError(f"{file} cannot be read as an NPZ file: {error}") from error
