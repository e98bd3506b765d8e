"""Reads text files, compressed or not; each problem is an error of one line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..errors import DataError

BINARY = b"\0"


def read_lines(path: Path, encoding: str = "utf-8-sig") -> Generator[str, None, None]:
    """The lines of a file with their line ends; an error names the line that is not text."""
    try:
        with _open(path) as file:
            for number, line in enumerate(file, start=1):
                if BINARY in line:
                    raise DataError(
                        f"'{path}', line {number}: zero byte found; the file must be text in UTF-8."
                    )
                yield _decode(line, path, number, encoding)
    except FileNotFoundError as error:
        raise DataError(f"File '{path}' does not exist.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"'{path}' cannot be unpacked: {error}. Compress it again with gzip.") from error
    except OSError as error:
        raise DataError(f"Cannot read '{path}': {error.strerror or error}.") from error


def read_text(path: Path, encoding: str = "utf-8-sig") -> str:
    """The text of a whole file."""
    with closing(read_lines(path, encoding)) as lines:
        return "".join(lines)


def read_json_lines(path: Path) -> Generator[tuple[int, dict[str, Any]], None, None]:
    """The JSON objects of a file, one per line, with line numbers; blank lines are skipped."""
    with closing(read_lines(path)) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, parse_object(line.rstrip(), f"'{path}', line {number}")


def parse_object(text: str, where: str) -> dict[str, Any]:
    """Parse a JSON object; `where` is its place, for an error."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{where}, column {error.colno}: not valid JSON: {error.msg}.") from error
    except ValueError as error:  # e.g. a number of thousands of digits
        raise DataError(f"{where}: {error}.") from error
    except RecursionError as error:
        raise DataError(f"{where}: nested too deeply.") from error
    if not isinstance(found, dict):
        raise DataError(f"{where}: expected a JSON object, found a {type(found).__name__}.")
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
