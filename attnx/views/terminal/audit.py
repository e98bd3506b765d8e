"""The audit on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ...results.audit import AuditReport, AuditRow, Noticed
from ...results.formatting import format_number
from .tables import print_table, screen


def print_audit(report: AuditReport, console: Console | None = None) -> None:
    """Print how the models were verified, then a line for every metric, the most reliable first."""
    console = console or screen()
    many = f"{len(report.seeds)} seed{'s' * (len(report.seeds) > 1)}"
    sizes = f"{', '.join(report.tasks)}; {many}, {report.examples} test examples each"
    console.print(Text(f"\naudit on texts whose deciding words are known · {sizes}\n"))
    numbers = ["accuracy", "w/o deciding", "w/o others", "attention", "verified"]
    print_table(console, ["task", "model", "kind"], numbers, model_rows(report))
    console.print(Text(f"\n{VERIFIED}\n"))
    print_table(
        console,
        ["metric", "with"],
        ["inversions", "ordered correctly", "degraded", "deceived", "randomised"],
        metric_rows(report),
    )
    console.print(Text(f"\n{LEGEND}"))
    if report.silent:
        console.print(Text(f"Has no preferred direction, cannot be audited: {', '.join(report.silent)}."))
    others = [row for row in report.rows if not row.headline and row.inversions]
    for row in others:
        console.print(
            Text(f"{row.metric} {row.measure}: {row.inversions} of {row.comparisons} inverted, too.")
        )


VERIFIED = (
    "w/o deciding, w/o others: accuracy when the deciding words are deleted, or as many other words. "
    "attention: the share of attention on the deciding words. A model is verified to use them if its "
    "accuracy is .9 or more, stays there without other words, and falls to .7 or less without the deciding "
    "words."
)
LEGEND = (
    "inversions: pairs in which the metric significantly preferred the worse explanation (95 % interval). "
    "ordered correctly: pairs in which it significantly preferred the better one. degraded: rank correlation "
    "of the metric with the share of deciding words replaced by others (-1: worse with every step). "
    "deceived, randomised: models whose attention scored significantly worse than the honest model's; in "
    "brackets those that scored significantly better."
)


def metric_rows(report: AuditReport) -> list[list[str]]:
    """The cells of every metric, the most reliable first."""
    rows = sorted(
        (row for row in report.rows if row.headline),
        key=lambda row: (row.inversions / max(1, row.comparisons), row.metric),
    )
    return [_cells(row) for row in rows]


def model_rows(report: AuditReport) -> list[list[str]]:
    """The cells of every task and model, each with its range over seeds."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for at, found in enumerate(report.verification):
        groups.setdefault((found.task, found.model, found.kind), []).append(at)
    rows = []
    for (task, model, kind), places in groups.items():
        those = [report.verification[at] for at in places]
        fields = ("accuracy", "without_deciding", "without_others", "attention_on_deciding")
        spans = [_span([getattr(one, field) for one in those]) for field in fields]
        verified = sum(one.verified for one in those)
        rows.append([task, model, kind, *spans, f"{verified} of {len(those)}"])
    return rows


def _span(values: list[float]) -> str:
    low, high = (f"{value:.2f}" for value in (min(values), max(values)))
    return low if low == high else f"{low}-{high}"


def _cells(row: AuditRow) -> list[str]:
    of_model = "the model" if row.reads == "models" else ""
    return [
        row.metric,
        row.reference or of_model,
        f"{row.inversions} of {row.comparisons}",
        f"{row.correct / row.comparisons:.0%}" if row.comparisons else "",
        "" if row.degradation is None else format_number(row.degradation),
        _noticed(row.deceived),
        _noticed(row.randomised),
    ]


def _noticed(found: Noticed) -> str:
    return f"{found.noticed} of {found.of}" + (f" ({found.fooled})" if found.fooled else "")
