"""A comparison on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ...escaping import printable
from ...results.comparison import Comparison, Difference
from ...results.formatting import format_number
from ...results.judgement.wording import GRADE_WORDS, percent
from .tables import print_table, screen

SHARES_COMPARE = (
    "The share is the way from random to the best order found, so it compares across models and tasks; the "
    "raw values below do not."
)


def print_comparison(comparison: Comparison, console: Console | None = None) -> None:
    """Print the runs, a line for every measure, and what was not compared."""
    console = console or screen()
    console.print()
    for run in comparison.runs:
        console.print(Text(printable(f"{run.letter}  {run.run}  {run.title}")))
    seeds = f"seed{'s' * (len(comparison.seeds) > 1)} {', '.join(map(str, comparison.seeds))}"
    console.print(Text(f"{comparison.examples} shared examples, {seeds}\n"))
    _print_shares(comparison, console)
    several = len(comparison.runs) > 2
    compared = any(row.reference for row in comparison.rows)
    explanations = list(dict.fromkeys(row.explanation for row in comparison.rows))
    headed = several or len([name for name in explanations if name]) > 1
    lines: list[list[str]] = []
    for run in comparison.runs[1:]:
        for name in explanations:
            rows = [row for row in comparison.rows if (row.run, row.explanation) == (run.letter, name)]
            heading = [f"{run.letter} vs. A"] * several + ["the model" if name is None else name]
            lines += [[" · ".join(filter(None, heading))]] * (headed and bool(rows))
            lines += [_cells(row, compared, 2 * headed) for row in rows]
    other = "other" if several else "B"
    names = ["measure", "reference"] if compared else ["measure"]
    print_table(console, names, ["A", other, f"{other} − A", "95 % interval", "p", f"{other} vs. A"], lines)
    console.print(Text(f"\n{_said(comparison)}"))
    for note in comparison.notes:
        console.print(Text(printable(f"note: {note}")))


def _print_shares(comparison: Comparison, console: Console) -> None:
    """How faithful every explanation of every run is, the most faithful first."""
    if not comparison.shares:
        return
    rows = [
        [
            one.run,
            one.explanation,
            percent(one.share),
            f"[{percent(one.low)}, {percent(one.high)}]",
            GRADE_WORDS[one.grade],
        ]
        for one in comparison.shares
    ]
    print_table(console, ["run", "explanation"], ["share", "95 % interval"], rows, ["faithfulness"])
    console.print(Text(f"\n{SHARES_COMPARE}\n"))


def _said(comparison: Comparison) -> str:
    found, rows, tested = len(comparison.significant), len(comparison.rows), comparison.tested
    return (
        f"{found} of {rows} differences are significant. p is corrected for all {tested} tests (Holm); the "
        "intervals are not corrected for multiple tests."
    )


def _cells(row: Difference, compared: bool, indent: int) -> list[str]:
    return [
        " " * indent + row.title,
        *([row.reference or ""] if compared else []),
        format_number(row.first),
        format_number(row.other),
        format_number(row.difference),
        str(row.interval or "–"),
        row.chance,
        row.outcome,
    ]
