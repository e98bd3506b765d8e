"""The report on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .results import ARROWS, Report, StudyReport, Summary, format_number

WIDTH = 100


def print_report(report: Report, console: Console | None = None) -> None:
    """Print the model's quality, then one line for every measure."""
    console = console or Console(width=None if Console().is_terminal else WIDTH, highlight=False)
    console.print(_header(report))
    console.print(_table(report))
    console.print(_costs(report), style="dim")
    for warning in report.warnings:
        console.print(f"warning: {warning}", style="yellow", markup=False)


def _header(report: Report) -> str:
    names = report.labels
    accuracies = [quality.accuracy for quality in report.quality]
    mean = sum(accuracies) / len(accuracies)
    seeds = f"{len(accuracies)} seed{'s' * (len(accuracies) > 1)}"
    spread = f" ({min(accuracies):.3f}–{max(accuracies):.3f})" if len(accuracies) > 1 else ""
    majority = report.quality[0].majority
    f1 = sum(quality.f1 for quality in report.quality) / len(report.quality)
    return (
        f"\n[bold]{names['task']}[/bold] · [bold]{names['model']}[/bold] · {names['projection']} · {seeds}\n"
        f"model quality on test: accuracy {mean:.3f}{spread}, macro F1 {f1:.3f}, majority {majority:.3f}\n"
    )


def _table(report: Report) -> Table:
    rows = [summary for summary in report.summaries if summary.group == "all"]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("measure")
    several = len({row.explanation for row in rows if row.explanation}) > 1
    compared = any(row.reference for row in rows)
    if several:
        table.add_column("explanation")
    if compared:
        table.add_column("reference")
    table.add_column("mean", justify="right")
    table.add_column("95 % interval", justify="right")
    for name in report.baseline_names:
        table.add_column(name, justify="right", style="dim")
    table.add_column("n (undefined)", justify="right")
    for row in rows:
        cells = [row.title]
        cells += [row.explanation or ""] if several else []
        cells += [row.reference or ""] if compared else []
        cells += [format_number(row.mean), row.interval]
        cells += [format_number(row.baselines.get(name)) for name in report.baseline_names]
        table.add_row(*cells, _count(row))
    return table


def print_study(report: StudyReport, console: Console | None = None) -> None:
    """Print one line for every finding, beside the published value where there is one."""
    console = console or Console(width=None if Console().is_terminal else WIDTH, highlight=False)
    names = report.labels
    console.print(
        f"\n[bold]{report.study.name}[/bold] · {names['task']} · {names['model']} · {names['projection']} · "
        f"{len(report.spec.seeds)} seeds, {report.data['test']} test examples\n"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, justify in (
        ("setting", "left"),
        ("measure", "left"),
        ("mean", "right"),
        ("95 % interval", "right"),
    ):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    published = any(finding.published is not None for finding in report.findings)
    if published:
        table.add_column("published", justify="right")
        table.add_column("in", style="dim")
    for f in report.findings:
        cells = [f.setting, f"{f.measure} {ARROWS[f.direction]}".rstrip(), format_number(f.mean)]
        cells.append(f"[{format_number(f.low)}, {format_number(f.high)}]")
        cells += [format_number(f.published), f.source] if published else []
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)


def _costs(report: Report) -> str:
    """Passes and milliseconds per explanation, of the methods that were asked for."""
    examples = int(report.provenance.data["test"]) * len(report.quality)
    parts = [
        f"{cost.method} {cost.passes:.1f} passes, "
        f"{1000 * report.seconds[f'importance {cost.method}'] / examples:.2f} ms"
        for cost in report.costs
        if cost.method not in report.baseline_names
    ]
    return f"\ncost of an explanation: {'; '.join(parts)}"


def _count(row: Summary) -> str:
    return f"{row.n} ({row.undefined})"
