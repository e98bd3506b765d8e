"""Tables with a delimiter: with a header, or as Zhang et al. give their datasets."""

from __future__ import annotations

import csv
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from attnx.plugin import DataError, did_you_mean, read_lines

from ..label_names import WHOLE
from ..rows import Row, RowStream, check_label

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}


def read_table(
    path: Path,
    text: str = "text",
    label: str = "label",
    delimiter: str = "auto",
    only: Mapping[str, str] | None = None,
    query: str = "",
    options: bool = False,
) -> RowStream:
    """Rows of a table with a header; `only` gives values that other columns must have.

    Where `options` of a task name the columns, an error names the option of a missing one.
    """
    with closing(_records(path, delimiter_of(path, delimiter))) as cells:
        first = next(cells, None)
        if first is None:
            raise DataError(
                f"'{path}' is empty; its first line must name the columns, '{text}' and '{label}'."
            )
        header = [name.strip() for name in first[1]]
        text_at = _column(path, header, text, "text" if options else "")
        label_at = _column(path, header, label, "label" if options else "")
        query_at = _column(path, header, query, "query" if options else "") if query else -1
        id_at = _column(path, header, "id") if "id" in header and "id" not in (text, label, query) else -1
        wanted = {_column(path, header, name): value for name, value in (only or {}).items()}
        for index, (line, record) in enumerate(cells):
            if len(record) != len(header):
                raise DataError(
                    f"'{path}', line {line}: {len(record)} columns where the header has {len(header)}; "
                    "put a text that holds the delimiter in double quotes."
                )
            if any(record[column] != value for column, value in wanted.items()):
                continue
            given = record[label_at].strip()
            if not given:
                raise DataError(f"'{path}', line {line}: column '{label}' is empty; give every text a label.")
            check_label(given, f"'{path}', line {line}")
            own = record[id_at].strip() if id_at >= 0 else ""
            yield Row(index, line, record[text_at], given, None, record[query_at] if query else None, own)


def read_zhang(path: Path, classes: int) -> RowStream:
    """Rows of a table without header: a class from 1 on, then columns of text, joined by a space.

    Line breaks inside a text are written as a backslash, with an n or without.
    """
    with closing(_records(path, ",")) as records:
        for index, (line, record) in enumerate(records):
            if len(record) < 2:
                raise DataError(f"'{path}', line {line}: one column; a class and a text are needed.")
            number = record[0].strip()
            if not WHOLE.fullmatch(number) or not 1 <= int(number) <= classes:
                raise DataError(
                    f"'{path}', line {line}: the first column is '{_short(number)}'; it must be a class "
                    f"from 1 to {classes}."
                )
            text = " ".join(record[1:]).replace("\\n", " ").replace("\\", " ")
            yield Row(index, line, text, str(int(number) - 1))


def delimiter_of(path: Path, name: str) -> str:
    """The delimiter of that name; auto goes by the end of the file's name."""
    if name != "auto":
        return DELIMITERS[name]
    suffixes = path.suffixes
    return "\t" if ".tsv" in suffixes or ".tab" in suffixes else ","


def _records(path: Path, delimiter: str) -> Generator[tuple[int, list[str]], None, None]:
    """Every record that is not blank, with the line it begins at."""
    begins = 1
    with closing(read_lines(path)) as lines:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for record in reader:
                if record:
                    yield begins, record
                begins = reader.line_num + 1
        except csv.Error as error:
            raise DataError(f"'{path}', line {begins}: {_reason(error)}.") from error


def _reason(error: csv.Error) -> str:
    if "field limit" in str(error):
        return (
            f"a cell is longer than {csv.field_size_limit()} characters; a double quote may be missing, "
            "or give such texts as jsonl"
        )
    if "new-line character" in str(error):
        return (
            "lines end in CR alone; convert the file with tr '\\r' '\\n' < OLD > NEW, or put a text that "
            "holds a CR in double quotes"
        )
    return f"not a table ({error}); double a quote that is part of a text"


def _column(path: Path, header: Sequence[str], name: str, option: str = "") -> int:
    if header.count(name) == 1:
        return header.index(name)
    if name in header:
        raise DataError(f"'{path}', line 1: column '{name}' occurs twice.")
    columns = ", ".join(f"'{_short(column)}'" for column in header)
    other = _other_delimiter(header)
    hint = other or did_you_mean(name, header)
    choose = f" Choose one with {option}=COLUMN." if option and not other else ""
    raise DataError(f"'{path}', line 1: there is no column '{name}'.{hint} Columns: {columns}.{choose}")


def _other_delimiter(header: Sequence[str]) -> str:
    found = [name for name, mark in DELIMITERS.items() if len(header) == 1 and mark in header[0]]
    return f" The columns may be separated otherwise: set delimiter={found[0]}." if found else ""


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
