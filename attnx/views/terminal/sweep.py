"""A sweep on a terminal: a line for every explanation in every cell, and the cells that failed."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from ...errors import AttnxError
from ...escaping import printable
from ...request.cell_choices import AXES
from ...request.option_text import write_options
from ...results.comparison import ONE_SEED, Difference
from ...results.formatting import duration, format_number
from ...results.judgement.records import Grade
from ...results.judgement.wording import GRADE_WORDS, percent
from ...results.sweep import SweepReport, SweepRow
from .tables import print_table, screen

FEW = 12  # cells whose differences are printed; those of more are on the page
MOST = 2  # measures that a line has room for; all of them are in the JSON


def print_sweep(report: SweepReport, console: Console | None = None) -> None:
    """Print accuracy, verdicts and the first measures of every cell."""
    console = console or screen()
    shown = list(dict.fromkeys(name for row in report.rows for name in row.values))[:MOST]
    names = [*report.varying, "explanation"]
    numbers = ["accuracy", "share", "faithful", *shown]
    console.print(Text(_header(report)))
    print_table(console, names, numbers, [_cells(report, row, shown) for row in report.ranked])
    for row in _without_verdict(report):
        said = f"no verdict on {report.apart(row)}: 'attnx runs show {row.run}' says why"
        console.print(Text(printable(said)))
    for line in _differences(report):
        console.print(Text(printable(line)))
    for undone in report.failed:
        console.print(Text(printable(f"failed: {undone.cell}: {undone.reason}"), style="red"))


def _without_verdict(report: SweepReport) -> list[SweepRow]:
    """One row of each cell without a verdict, if others have one."""
    lacking = {row.run: row for row in report.rows if row.faithfulness is None}
    judged = {row.run for row in report.rows if row.faithfulness is not None}
    return [row for run, row in lacking.items() if judged and run not in judged]


def _differences(report: SweepReport) -> Iterator[str]:
    """What is better or worse in every cell than in the first of its task; not in a large sweep."""
    titles = {row.run: report.apart(row) for row in report.rows}
    if not 1 < len(titles) <= FEW:
        return
    try:
        comparisons = report.comparisons()
    except AttnxError as error:  # the table stands without them
        yield f"not compared: {error}"
        return
    for comparison in comparisons:
        first, *others = comparison.runs
        yield ""
        yield (
            f"Compared with {titles[first.run]} ({comparison.examples} shared examples, "
            f"{len(comparison.seeds)} seed{'s' * (len(comparison.seeds) > 1)}, p corrected for all tests):"
        )
        for run in others:
            rows = [row for row in comparison.significant if row.run == run.letter]
            sided = [_said(row) for row in rows if row.direction != "none"]
            found = "; ".join(sided) or "nothing is significantly better or worse"
            yield f"  {titles[run.run]}: {found}{_others(len(rows) - len(sided))}"
        if len(comparison.seeds) == 1:
            yield f"  {ONE_SEED}"


def _others(count: int) -> str:
    """How many measures differ that have no better side."""
    plural = "s" * (count > 1)
    return (
        f" ({count} measure{plural} without a better side differ{'s' * (count == 1)}: see the page)"
        * bool(count)
    )


def _said(row: Difference) -> str:
    """A difference in a few words."""
    of = f" of {row.explanation}" if row.explanation else ""
    with_ = f" with {row.reference}" if row.reference else ""
    return f"{row.outcome} {row.title}{with_}{of} ({format_number(row.difference)} {row.interval or ''})"


def _header(report: SweepReport) -> str:
    """What all cells share, and how many there are."""
    same = [next(iter(found)) for axis in AXES if len(found := {getattr(r, axis) for r in report.rows}) == 1]
    every = [
        f"every {axis} {write_options(given)}" for axis in AXES if (given := report.shared_options(axis))
    ]
    runs = len({row.run for row in report.rows})
    left = f", {len(report.failed)} failed" if report.failed else ""
    left += f", {len(report.refused)} incompatible" if report.refused else ""
    counted = f"{runs} cell{'s' * (runs != 1)}{left}, {duration(report.seconds)}"
    return printable(f"\n{' · '.join(filter(None, [*same, *every, counted]))}\n", lines=True)


def _cells(report: SweepReport, row: SweepRow, shown: list[str]) -> list[str]:
    values = (row.values.get(name) for name in shown)
    return [
        *(report.short(row, axis) for axis in report.varying),
        row.explanation,
        format_number(row.accuracy),
        percent(row.share),
        _word(row.faithfulness),
        *(format_number(value.mean) if value else "" for value in values),
    ]


def _word(grade: Grade | None) -> str:
    return "" if grade is None else GRADE_WORDS[grade]
