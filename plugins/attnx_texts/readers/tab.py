"""Orange's tables: three header rows (names, types, roles), then a row a text, separated by tabs."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path

from attnx.plugin import DataError, did_you_mean, read_lines

from ..rows import Row, RowStream

HEADER_ROWS = 3


def read_tab(path: Path, text: str = "Text", label: str = "Category") -> RowStream:
    """Rows of a table whose cells hold no tabs, line breaks or quotes."""
    with closing(read_lines(path)) as stream:
        lines = enumerate(stream, start=1)
        header = [line.rstrip("\r\n").split("\t") for _, line in islice(lines, HEADER_ROWS)]
        if len(header) < HEADER_ROWS or "string" not in header[1]:
            raise DataError(
                f"'{path}': three header rows are needed: names, types (one is 'string') and roles."
            )
        names = header[0]
        for name in (text, label):
            if name not in names:
                raise DataError(
                    f"'{path}', line 1: there is no column '{name}'.{did_you_mean(name, names)} "
                    f"Columns: {', '.join(names)}."
                )
        text_at, label_at = names.index(text), names.index(label)
        index = 0
        for number, line in lines:
            cells = line.rstrip("\r\n").split("\t")
            if cells == [""]:
                continue
            if len(cells) != len(names):
                raise DataError(
                    f"'{path}', line {number}: {len(cells)} columns where the header has {len(names)}."
                )
            yield Row(index, number, cells[text_at], cells[label_at])
            index += 1
