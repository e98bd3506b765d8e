"""Files of text, JSON and tables; whatever is wrong with one is said in one line."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TextIO, cast

from attnx import DataError


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """A text file in UTF-8, compressed (.gz) or not."""
    opener: Any = gzip.open if path.suffix == ".gz" else Path.open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            yield cast("TextIO", file)
    except UnicodeDecodeError as error:
        raise DataError(f"'{path}' is not UTF-8 ({error.reason}); save it as UTF-8.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"'{path}' cannot be unpacked: {error}. Compress it anew with gzip.") from error
    except OSError as error:
        raise DataError(f"'{path}' cannot be read: {error.strerror or error}.") from error


def find_file(folder: Path, name: str) -> Path:
    """The file of that name, or the same compressed."""
    found = [path for path in (folder / name, folder / f"{name}.gz") if path.is_file()]
    if len(found) == 1:
        return found[0]
    what = "both" if found else "neither"
    raise DataError(f"'{folder}' holds {what} of {name} and {name}.gz; it must hold one.")


def read_text(path: Path) -> str:
    """A whole file."""
    with opened(path) as file:
        return file.read()


def read_json(path: Path) -> dict[str, Any]:
    """The object that a file holds."""
    return parse_object(read_text(path), f"'{path}'")


def read_json_lines(path: Path) -> Generator[tuple[str, dict[str, Any]], None, None]:
    """The objects of a file, one a line, each with the place where a person finds it."""
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                where = f"'{path}', line {number}"
                yield where, parse_object(line, where)


def read_table(path: Path, columns: Iterable[str]) -> Generator[tuple[str, dict[str, str]], None, None]:
    """The rows of a CSV file, each with its place; its header must have these columns."""
    with opened(path) as file:
        reader = csv.DictReader(file, restval="")
        try:
            header = reader.fieldnames or ()
            for column in columns:
                if column not in header:
                    known = ", ".join(header) or "none"
                    raise DataError(
                        f"'{path}', line 1: there is no column '{column}'.{nearest(column, header)} "
                        f"Columns: {known}."
                    )
            begins = reader.line_num + 1
            for row in reader:
                yield f"'{path}', line {begins}", row
                begins = reader.line_num + 1
        except csv.Error as error:
            raise DataError(f"'{path}', line {reader.line_num}: not a table ({error}).") from error


def parse_object(text: str, where: str) -> dict[str, Any]:
    """A JSON object."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON: {error.msg} at character {error.pos}.") from error
    except RecursionError as error:
        raise DataError(f"{where}: nested too deeply.") from error
    if not isinstance(found, dict):
        raise DataError(f"{where}: a JSON object is needed, not a {type(found).__name__}.")
    return found


def value_of(found: Mapping[str, Any], key: str, kind: type[Any] | tuple[type[Any], ...], where: str) -> Any:
    """The value of a key, which must be of that kind."""
    if key not in found:
        keys = ", ".join(f"'{other}'" for other in list(found)[:10]) or "none"
        raise DataError(f"{where}: there is no key '{key}'.{nearest(key, found)} Keys: {keys}.")
    value = found[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join({list: "a list", str: "a string", int: "a whole number"}[k] for k in kinds)
        raise DataError(f"{where}: '{key}' must be {wanted}, not {_short(value)}.")
    return value


def find_label(given: str, known: Mapping[str, int], where: str) -> int:
    """The number of a label."""
    if given in known:
        return known[given]
    raise DataError(
        f"{where}: unknown label '{_short(given)}'.{nearest(given, known)} Labels: {', '.join(known)}."
    )


def nearest(name: str, known: Iterable[str]) -> str:
    """The nearest known name as a question, or nothing."""
    lowered = {other.lower(): other for other in known}
    near = get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return f" Did you mean '{lowered[near[0]]}'?" if near else ""


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 40 else f"{text[:37]}..."
