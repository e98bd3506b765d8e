"""A sweep on a terminal: a line for every explanation in every cell, and what could not be done."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ..escaping import printable
from .numbers import format_number
from .phrases import STATUS_IN_WORDS
from .records import Status
from .sweeps import CellRow, SweepReport
from .tables import print_table, screen

MOST = 2  # measures that a line has room for; all of them are in the JSON


def print_sweep(report: SweepReport, console: Console | None = None) -> None:
    """Print accuracy, verdicts and the first measures of every cell."""
    console = console or screen()
    shown = list(dict.fromkeys(name for row in report.rows for name in row.values))[:MOST]
    names = [name for name in ("task", "model", "projection", "training") if _varies(report, name)]
    names = [*names, "explanation"]
    numbers = ["accuracy", "faithful", "usable", *shown]
    console.print(Text(_header(report)))
    print_table(console, names, numbers, [_cells(row, names, shown) for row in report.rows])
    for undone in report.failed:
        console.print(Text(printable(f"failed: {undone.cell}: {undone.reason}"), style="red"))


def _varies(report: SweepReport, name: str) -> bool:
    return len({getattr(row, name) for row in report.rows}) > 1


def _header(report: SweepReport) -> str:
    same = {name: {getattr(row, name) for row in report.rows} for name in ("task", "model", "projection")}
    said = " · ".join(next(iter(found)) for found in same.values() if len(found) == 1)
    runs = len({row.run for row in report.rows})
    left = f", {len(report.failed)} failed" if report.failed else ""
    left += f", {len(report.refused)} left out" if report.refused else ""
    return printable(
        f"\n{said}{' · ' if said else ''}{runs} cells{left}, {report.seconds:.0f} s\n", lines=True
    )


def _cells(row: CellRow, names: list[str], shown: list[str]) -> list[str]:
    values = (row.values.get(name) for name in shown)
    return [
        *(getattr(row, name) for name in names),
        format_number(row.accuracy),
        _word(row.faithfulness),
        _word(row.interpretability),
        *(format_number(value.mean) if value else "" for value in values),
    ]


def _word(status: Status | None) -> str:
    return "" if status is None else STATUS_IN_WORDS[status]
