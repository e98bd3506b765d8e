"""Reads scores from files in double precision, and refuses those that single precision cannot tell apart."""

from __future__ import annotations

import math
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attnx.plugin import AttnxWarning, DataError, read_json_lines

Scores = np.ndarray[Any, np.dtype[np.float64]]
LARGEST, SMALLEST = 1e30, 1e-30  # of the largest score of an example: single precision has room for it
TIED = 2.0**-20  # the share of a score below which differences count as rounding (attnx.formulas.settled)
EXACT = 2.0**-45  # the share below which they are rounding in double precision too
MOST_BYTES, MOST_RATIO = 2**28, 100  # a file that unpacks to more than both is not a file of scores


def read_scores(file: Path) -> dict[str, Scores]:
    """Read one vector of finite numbers per id from a JSON-lines or NPZ file."""
    scores: dict[str, Scores] = {}
    for id_, given in _arrays(file) if file.suffix == ".npz" else _lines(file):
        if id_ in scores:
            raise DataError(f"{file} has scores for example '{id_}' twice: keep one of them.")
        scores[id_] = _checked(given, f"{file}: the scores of example '{id_}'")
    if not scores:
        raise DataError(f"{file} has no scores in it.")
    _check_differences(file, scores)
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
    found = values.astype(np.float64)
    largest = float(np.abs(found).max(initial=0.0))
    if largest > LARGEST or 0 < largest < SMALLEST:
        raise DataError(
            f"{what} are too {'large' if largest > 1 else 'small'}: the largest is {largest:.3g}, and models "
            f"compute with {SMALLEST:g} to {LARGEST:g}. Multiply all scores of the file by the same number."
        )
    return found


def _check_differences(file: Path, scores: Mapping[str, Scores]) -> None:
    """Refuse a file, or warn of examples in it, whose scores differ too little for single precision."""
    several = {id_: values for id_, values in scores.items() if len(values) > 1}
    lost = [id_ for id_, values in several.items() if _all_tied(values)]
    if not lost:
        return
    said = (
        f"{file}: the scores of {len(lost)} of {len(several)} examples, the first is '{lost[0]}', differ by "
        "less than a millionth of their size"
    )
    if 2 * len(lost) > len(several):
        raise DataError(f"{said}, so all of them would count as equal. Subtract what they have in common.")
    warnings.warn(f"{said} and count as equal.", AttnxWarning, stacklevel=4)


def _all_tied(values: Scores) -> bool:
    """Whether scores that differ would all be equal, and are not in single precision already."""
    ordered = np.sort(values)
    gaps, sizes = np.diff(ordered), np.maximum(np.abs(ordered[1:]), np.abs(ordered[:-1]))
    if (gaps <= EXACT * sizes).all() or (gaps > TIED * sizes).any():
        return False
    return bool((values != values.astype(np.float32)).any())


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
            _check_sizes(arrays.zip, file.stat().st_size)
            for id_ in arrays.files:
                yield id_, arrays[id_]
    except UNREADABLE as error:
        raise DataError(f"{file} cannot be read as an NPZ file: {error}") from error


def _check_sizes(archive: zipfile.ZipFile, size: int) -> None:
    """Refuse a file that unpacks to far more than it is, or an array that says it is larger than it is."""
    whole = sum(entry.file_size for entry in archive.infolist())
    if whole > max(MOST_BYTES, MOST_RATIO * size):
        raise ValueError(f"its {size / 1e6:.3g} MB would unpack to {whole / 1e6:.3g} MB")
    for entry in archive.infolist():
        with archive.open(entry) as array:
            version = np.lib.format.read_magic(array)
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, _, kind = read(array)
        if math.prod(shape) * kind.itemsize > entry.file_size:
            raise ValueError(
                f"'{entry.filename}' says it has {math.prod(shape)} numbers, more than are there"
            )
