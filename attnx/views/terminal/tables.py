"""Tables on a terminal: columns where they fit, elsewhere every row as a few lines of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NoReturn

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...escaping import printable

WIDTH = 100
NARROWEST = 10  # columns; a terminal that does not know its width says 0
GAP = 2


class Screen(Console):
    """A console that leaves a closed pipe to whoever called."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def screen(*, stderr: bool = False) -> Console:
    """The terminal, as wide as it is; 100 columns where there is none, or none of a usable width."""
    console = Screen(highlight=False, stderr=stderr)
    if console.width < NARROWEST or (not console.is_terminal and "COLUMNS" not in os.environ):
        console.width = WIDTH
    return console


def print_table(
    console: Console,
    names: Sequence[str],
    numbers: Sequence[str],
    rows: Iterable[Sequence[str]],
    notes: Sequence[str] = (),
) -> None:
    """Print rows of names that fold where they are long, numbers that never do, and notes.

    A row of a single cell is a heading of those below it.
    """
    shown = [[printable(cell) for cell in row] for row in rows]
    head = [*names, *numbers, *notes]
    columns = list(zip_longest(head, *(row for row in shown if len(row) > 1), fillvalue=""))
    folding = {*range(len(names)), *range(len(names) + len(numbers), len(head))}
    least = sum(
        max(cell_len(part) for cell in column for part in (cell.split(" ") if at in folding else [cell]))
        for at, column in enumerate(columns)
    )
    if least + GAP * (len(head) - 1) <= console.width:
        console.print(_in_columns(names, numbers, notes, shown))
    else:
        _print_stacked(console, len(names), head, shown)


def _in_columns(
    names: Sequence[str], numbers: Sequence[str], notes: Sequence[str], rows: Iterable[Sequence[str]]
) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    for name in names:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    for name in notes:
        table.add_column(name, style="dim", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, style="bold" if len(row) == 1 else "") for cell in row))
    return table


def _print_stacked(console: Console, names: int, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print the names on a line, and below them each number with its column name."""
    for row in rows:
        title = " · ".join(cell.strip() for cell in row[:names] if cell.strip())
        console.print(Text(title, style="bold" if len(row) == 1 else "", overflow="fold"))
        cells = zip(head[names:], row[names:], strict=False)
        for line in _lines([f"{name} {cell}" for name, cell in cells if cell], console.width - GAP):
            console.print(Text(f"{' ' * GAP}{line}", overflow="fold"))


def _lines(parts: Iterable[str], width: int) -> list[str]:
    """Parts side by side, as many on a line as fit."""
    lines: list[str] = []
    for part in parts:
        if lines and cell_len(lines[-1]) + GAP + cell_len(part) <= width:
            lines[-1] += " " * GAP + part
        else:
            lines.append(part)
    return lines
