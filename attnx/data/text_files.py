"""Reads text files, compressed or not; each problem is an error of one line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Generator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..errors import DataError, did_you_mean_path

BINARY = b"\0"
LONGEST = 2**28  # bytes of a line; a compressed file of some megabytes may hold a line that fills the memory


def read_lines(path: Path, encoding: str = "utf-8-sig") -> Generator[str, None, None]:
    """Read a file line by line; a name that ends in .gz is decompressed.

    Args:
        path: the file.
        encoding: how it is written; a byte order mark is dropped.

    Yields:
        The lines, with their line ends.

    Raises:
        DataError: the file cannot be read, or a line is not text; the message names the line.
    """
    try:
        with _open(path) as file:
            for number, line in enumerate(iter(partial(file.readline, LONGEST + 1), b""), start=1):
                if len(line) > LONGEST:
                    raise DataError(
                        f"'{path}', line {number}: longer than {LONGEST // 2**20} MB; is it a file of lines?"
                    )
                if BINARY in line:
                    raise DataError(
                        f"'{path}', line {number}: zero byte found; the file must be text in UTF-8."
                    )
                yield _decode(line, path, number, encoding)
    except FileNotFoundError as error:
        raise DataError(f"File '{path}' does not exist.{did_you_mean_path(path)}") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"'{path}' cannot be unpacked: {error}. Compress it again with gzip.") from error
    except OSError as error:
        raise DataError(f"Cannot read '{path}': {error.strerror or error}.") from error


def read_text(path: Path, encoding: str = "utf-8-sig") -> str:
    """Read a whole file; a name that ends in .gz is decompressed.

    Args:
        path: the file.
        encoding: how it is written; a byte order mark is dropped.

    Returns:
        Its text.

    Raises:
        DataError: the file cannot be read, or a line is not text.
    """
    with closing(read_lines(path, encoding)) as lines:
        return "".join(lines)


def read_json_lines(path: Path) -> Generator[tuple[int, dict[str, Any]], None, None]:
    """Read a file with one JSON object per line; blank lines are skipped.

    Args:
        path: the file.

    Yields:
        The number of the line, from 1, and its object.

    Raises:
        DataError: a line is not a JSON object; the message names the line.
    """
    with closing(read_lines(path)) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, parse_object(line.rstrip(), f"'{path}', line {number}")


def parse_object(text: str, where: str) -> dict[str, Any]:
    """Parse a JSON object.

    Args:
        text: the text.
        where: where the text comes from, for an error message.

    Returns:
        The object.

    Raises:
        DataError: the text is not a JSON object, or a key occurs twice in it.
    """
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except _Twice as error:
        raise DataError(f"{where}: the key '{str(error)[:40]}' occurs twice; keep one of them.") from error
    except json.JSONDecodeError as error:
        raise DataError(f"{where}, column {error.colno}: not valid JSON: {error.msg}.") from error
    except ValueError as error:  # e.g. a number of thousands of digits
        raise DataError(f"{where}: {error}.") from error
    except RecursionError as error:
        raise DataError(f"{where}: nested too deeply.") from error
    if not isinstance(found, dict):
        raise DataError(f"{where}: expected a JSON object, found a {type(found).__name__}.")
    return found


class _Twice(Exception):
    """A key that an object has twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object each of whose keys occurs once; Python would take the last value and say nothing."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return found


def _open(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _decode(line: bytes, path: Path, number: int, encoding: str) -> str:
    try:
        # The byte order mark that some editors write is dropped on the first line only.
        return line.decode(encoding if number == 1 else encoding.removesuffix("-sig"))
    except UnicodeDecodeError as error:
        raise DataError(
            f"'{path}', line {number}: byte 0x{line[error.start]:02x} is not UTF-8; save the file as UTF-8."
        ) from error
