"""Text files, compressed or not; whatever is wrong with one is said in one line."""

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
    """The lines of a file with their ends; a file that is not text is refused with its line."""
    try:
        with _open(path) as file:
            for number, line in enumerate(file, start=1):
                if BINARY in line:
                    raise DataError(
                        f"'{path}', line {number}: there is a zero byte; give a text file in UTF-8."
                    )
                yield _decode(line, path, number, encoding)
    except FileNotFoundError as error:
        raise DataError(f"There is no file '{path}'.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"'{path}' cannot be unpacked: {error}. Compress it anew with gzip.") from error
    except OSError as error:
        raise DataError(f"'{path}' cannot be read: {error.strerror or error}.") from error


def read_text(path: Path, encoding: str = "utf-8-sig") -> str:
    """A whole file."""
    with closing(read_lines(path, encoding)) as lines:
        return "".join(lines)


def read_json_lines(path: Path) -> Generator[tuple[int, dict[str, Any]], None, None]:
    """The objects of a file, one a line, with the numbers of their lines; a blank line is passed over."""
    with closing(read_lines(path)) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, parse_object(line.rstrip(), f"'{path}', line {number}")


def parse_object(text: str, where: str) -> dict[str, Any]:
    """The JSON object that stands in a place."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{where}, column {error.colno}: not JSON: {error.msg}.") from error
    except ValueError as error:  # a number of thousands of digits
        raise DataError(f"{where}: {error}.") from error
    except RecursionError as error:
        raise DataError(f"{where}: nested too deeply.") from error
    if not isinstance(found, dict):
        raise DataError(f"{where}: a JSON object is needed, not a {type(found).__name__}.")
    return found


def _open(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _decode(line: bytes, path: Path, number: int, encoding: str) -> str:
    try:
        # The mark that some editors put before the first line is dropped there, and only there.
        return line.decode(encoding if number == 1 else encoding.removesuffix("-sig"))
    except UnicodeDecodeError as error:
        raise DataError(
            f"'{path}', line {number}: byte 0x{line[error.start]:02x} is not UTF-8; save the file as UTF-8."
        ) from error
