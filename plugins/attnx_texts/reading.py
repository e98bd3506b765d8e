"""Tables, and values of JSON objects; whatever is wrong with one is said in one line."""

from __future__ import annotations

import csv
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from attnx.plugin import DataError, did_you_mean, read_lines


def find_file(folder: Path, name: str) -> Path:
    """The file of that name, or the same compressed."""
    found = [path for path in (folder / name, folder / f"{name}.gz") if path.is_file()]
    if len(found) == 1:
        return found[0]
    what = "both" if found else "neither"
    raise DataError(f"'{folder}' holds {what} of {name} and {name}.gz; it must hold one.")


def read_table(path: Path, columns: Iterable[str]) -> Generator[tuple[str, dict[str, str]], None, None]:
    """The rows of a CSV file, each with its place; its header must have these columns."""
    with closing(read_lines(path)) as lines:
        reader = csv.DictReader(lines, restval="", strict=True)
        try:
            header = reader.fieldnames or ()
            for column in columns:
                if column not in header:
                    known = ", ".join(header) or "none"
                    raise DataError(
                        f"'{path}', line 1: there is no column '{column}'.{did_you_mean(column, header)} "
                        f"Columns: {known}."
                    )
            begins = reader.line_num + 1
            for row in reader:
                yield f"'{path}', line {begins}", row
                begins = reader.line_num + 1
        except csv.Error as error:
            raise DataError(f"'{path}', line {reader.line_num}: not a table ({error}).") from error


def value_of(found: Mapping[str, Any], key: str, kind: type[Any] | tuple[type[Any], ...], where: str) -> Any:
    """The value of a key, which must be of that kind."""
    if key not in found:
        keys = ", ".join(f"'{other}'" for other in list(found)[:10]) or "none"
        raise DataError(f"{where}: there is no key '{key}'.{did_you_mean(key, found)} Keys: {keys}.")
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
        f"{where}: unknown label '{_short(given)}'.{did_you_mean(given, known)} Labels: {', '.join(known)}."
    )


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 40 else f"{text[:37]}..."
