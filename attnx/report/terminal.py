"""The report on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .findings import StudyReport
from .markdown import format_number
from .phrases import SEEN, STATUS_IN_WORDS, row_in_words
from .records import ARROWS, Report, Summary

WIDTH = 100


def print_report(report: Report, console: Console | None = None) -> None:
    """Print the model's quality, one line for every measure, and what explanations cost."""
    console = console or _console()
    console.print(_header(report), markup=False)
    for warning in report.warnings:
        console.print(f"warning: {warning}", style="yellow", markup=False)
    if report.warnings:
        console.print()
    _print_verdicts(report, console)
    console.print(_measures(report))
    console.print()
    console.print(_costs(report))


def print_study(report: StudyReport, console: Console | None = None) -> None:
    """Print one line for every finding, beside the published value where there is one."""
    console = console or _console()
    names = report.labels
    console.print(
        f"\n{report.study.label} · {names['task']} · {names['model']} · {names['projection']}\n"
        f"data: {_origin(report.data)}; {_seeds(len(report.spec.seeds))}\n",
        markup=False,
    )
    published = any(finding.published is not None for finding in report.findings)
    table = _table(
        ["setting", "measure"], ["mean", "95 % interval"] + ["published"] * published, ["in"] * published
    )
    for f in report.findings:
        measure = f"{f.measure} {ARROWS[f.direction]}".rstrip()
        cells = [f.setting, measure, format_number(f.mean), f.interval]
        cells += [format_number(f.published), f.source] if published else []
        _add(table, cells)
    console.print(table)


def _console() -> Console:
    return Console(width=None if Console().is_terminal else WIDTH, highlight=False)


def _header(report: Report) -> str:
    names = report.labels
    accuracies = [quality.accuracy for quality in report.quality]
    mean = sum(accuracies) / len(accuracies)
    spread = f" ({min(accuracies):.3f}–{max(accuracies):.3f})" if len(accuracies) > 1 else ""
    majority = report.quality[0].majority
    f1 = sum(quality.f1 for quality in report.quality) / len(report.quality)
    return (
        f"\n{names['task']} · {names['model']} · {names['projection']} · {_seeds(len(accuracies))}\n"
        f"data: {_origin(report.provenance.data)}\n"
        f"model quality on test: accuracy {mean:.3f}{spread}, macro F1 {f1:.3f}, majority {majority:.3f}\n"
    )


STYLES = {"supported": "bold green", "contradicted": "bold red", "chance": "bold yellow", "unknown": "bold"}


def _print_verdicts(report: Report, console: Console) -> None:
    """The verdict on every explanation: each heading, and below it a line for every family of evidence."""
    for v in report.verdicts:
        heading = v.family is None
        line = Text(f"{v.explanation} · {v.heading}: " if heading else f"  {v.family}: ")
        line.append(STATUS_IN_WORDS[v.status], STYLES[v.status])
        console.print(line)
        said = v.reason if heading else v.reason.partition(": ")[0]
        console.print(Padding(Text(f"{said}."), (0, 0, 0, 2 if heading else 4), expand=False))
        for row in v.rows:
            console.print(Padding(Text(row_in_words(row), style="dim"), (0, 0, 0, 4), expand=False))
        if v.rows:
            seen = dict.fromkeys(SEEN[row.sees] for row in v.rows)
            console.print(Padding(Text(f"({'; '.join(seen)})", style="dim"), (0, 0, 0, 4), expand=False))
    if report.verdicts:
        console.print()


def _origin(data: Mapping[str, str]) -> str:
    """Where the data came from, and how much of it was used."""
    source = [data[key] for key in ("kind", "folder", "name", "version", "url", "source") if key in data]
    sizes = ", ".join(f"{data[split]} {split}" for split in ("train", "dev", "test"))
    return ", ".join(filter(None, [" ".join(source), sizes]))


def _measures(report: Report) -> Table:
    """A line for every measure; with several explanations, those of each below its name."""
    rows = [summary for summary in report.summaries if summary.group == "all"]
    compared = any(row.reference for row in rows)
    numbers = ["mean", "95 % interval", *report.baseline_names, "n (undefined)"]
    table = _table(["measure", "reference"] if compared else ["measure"], numbers)
    explanations = list(dict.fromkeys(row.explanation for row in rows))
    several = len([name for name in explanations if name]) > 1
    for explanation in explanations:
        if several:
            table.add_row(Text(explanation or "the model itself", style="bold"))
        for row in rows:
            if row.explanation == explanation:
                _add(table, _cells(row, report.baseline_names, compared, indent=2 * several))
    return table


def _cells(row: Summary, baselines: Sequence[str], compared: bool, indent: int) -> list[str]:
    return [
        " " * indent + row.title,
        *([row.reference or ""] if compared else []),
        format_number(row.mean),
        row.interval,
        *(format_number(row.baselines.get(name)) for name in baselines),
        f"{row.n} ({row.undefined})",
    ]


def _costs(report: Report) -> Table:
    """Passes and milliseconds per explanation, of the methods that were asked for."""
    examples = int(report.provenance.data["test"]) * len(report.quality)
    table = _table(["cost of an explanation"], ["passes", "ms"])
    for cost in report.costs:
        if cost.method not in report.baseline_names:
            seconds = report.seconds[f"importance {cost.method}"]
            _add(table, [cost.method, f"{cost.passes:.1f}", f"{1000 * seconds / examples:.2f}"])
    return table


def _table(names: Sequence[str], numbers: Sequence[str], notes: Sequence[str] = ()) -> Table:
    """Names that fold where they are long, numbers that never do, and notes."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    for name in notes:
        table.add_column(name, style="dim", overflow="fold")
    return table


def _add(table: Table, cells: Sequence[str]) -> None:
    table.add_row(*(Text(cell) for cell in cells))


def _seeds(count: int) -> str:
    return f"{count} seed{'s' * (count > 1)}"
