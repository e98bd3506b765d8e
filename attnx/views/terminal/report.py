"""The report on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ...escaping import printable
from ...results.caution import Caution
from ...results.formatting import format_number
from ...results.judgement.family_wording import STATUS_IN_WORDS, row_in_words, sees_in_words, yardsticks
from ...results.judgement.headings import answered
from ...results.judgement.records import FamilyEvidence, Grade
from ...results.judgement.wording import grade_in_words
from ...results.report import Report, Summary
from ...results.study import StudyReport
from .ruler import print_ruler
from .tables import print_table, screen


def print_report(report: Report, console: Console | None = None) -> None:
    """Print the model's quality, the verdicts, the measures, and the cost of explanations."""
    console = console or screen()
    console.print(Text(_header(report)))
    _print_verdicts(report, console)
    _print_measures(report, console)
    if report.fingerprint and len({v.explanation for v in report.verdicts}) > 1:
        console.print(Text(f"To compare these explanations: attnx compare {report.fingerprint[:8]}"))
    console.print()
    _print_costs(report, console)


def print_study(report: StudyReport, console: Console | None = None) -> None:
    """Print one line for every finding, with the published value where there is one."""
    console = console or screen()
    header = (
        f"\n{' · '.join([report.study.label, *report.labels.values()])}\n"
        f"data: {_origin(report.data)}; {_seeds(len(report.spec.seeds))}\n"
    )
    console.print(Text(printable(header, lines=True)))
    published = any(finding.published is not None for finding in report.findings)
    rows = []
    for f in report.findings:
        cells = [f.setting, f.title, format_number(f.mean), str(f.interval or "")]
        cells += [format_number(f.published), f.source] if published else []
        rows.append(cells)
    numbers = ["mean", "95 % interval"] + ["published"] * published
    print_table(console, ["setting", "measure"], numbers, rows, ["in"] * published)


def print_warnings(warnings: Sequence[Caution]) -> None:
    """Print the warnings of a report on stderr, those of one kind as one."""
    console = screen(stderr=True)
    for warning in folded(warnings):
        console.print(Text(f"warning: {printable(warning)}", style="yellow"))


def folded(warnings: Sequence[Caution]) -> list[str]:
    """The first warning of every kind, with how many more there are of it; notices are all shown."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for warning in warnings:
        own = warning.text if warning.kind == "notice" else ""  # notices have nothing in common
        kinds.setdefault((warning.kind, own), []).append(warning.text)
    return [
        first + (f" (and {len(others)} more of this kind, in the report)" if others else "")
        for first, *others in kinds.values()
    ]


def _header(report: Report) -> str:
    names = report.labels
    accuracies = [quality.accuracy for quality in report.quality]
    mean = sum(accuracies) / len(accuracies)
    spread = f" ({min(accuracies):.3f}–{max(accuracies):.3f})" if len(accuracies) > 1 else ""
    majority = report.quality[0].majority
    f1 = sum(quality.f1 for quality in report.quality) / len(report.quality)
    header = (
        f"\n{' · '.join([*names.values(), _seeds(len(accuracies))])}\n"  # not every model has a projection
        f"data: {_origin(report.provenance.data)}\n"
        f"{_explained(report)}"
        f"model quality on test: accuracy {mean:.3f}{spread}, macro F1 {f1:.3f}; always predicting the most "
        f"frequent test label: accuracy {majority:.3f}\n"
    )
    return printable(header, lines=True)


def _explained(report: Report) -> str:
    """What was explained, where it is not the predicted class."""
    spec = report.spec
    if spec.versus is not None:
        return f"explained: why '{spec.target}' and not '{spec.versus}'\n"
    if spec.target == "predicted":
        return ""
    return f"explained: {'the label of each example' if spec.target == 'gold' else repr(spec.target)}\n"


MOST_ROWS = 20  # of measures that a person reads through
STYLES: Mapping[Grade, str] = {
    "misleading": "bold red",
    "random": "bold red",
    "weak": "bold yellow",
    "partial": "bold yellow",
    "good": "bold green",
    "strong": "bold green",
    "unknown": "bold",
}
STATUS_STYLES = {"supported": "green", "contradicted": "red", "chance": "yellow", "unknown": ""}


def _print_verdicts(report: Report, console: Console) -> None:
    """The ruler, then the answers about every explanation, then the evidence that decides nothing."""
    print_ruler(report.ranking, console)
    if report.ranking:
        console.print()
    for asked, v in answered(report.verdicts, report.unit):
        line = Text(f"{printable(asked)} ")
        line.append(grade_in_words(v).capitalize(), STYLES[v.grade])
        console.print(line.append(f". {printable(v.sentence)}"))
    console.print()
    for explanation in dict.fromkeys(v.explanation for v in report.verdicts):
        mine = [found for found in report.evidence if found.explanation == explanation]
        if mine:
            title = f"other evidence on {printable(explanation)} (reported, decides nothing)"
            console.print(Text(title, style="bold"))
        for found in mine:
            _print_family(found, report, console)
    if report.evidence:
        console.print()


def _print_family(found: FamilyEvidence, report: Report, console: Console) -> None:
    """What one family of evidence shows, and its numbers below."""
    tests = "; ".join(dict.fromkeys(sees_in_words(row.sees, report.unit) for row in found.rows))
    line = Text(f"  {found.family}: ").append(STATUS_IN_WORDS[found.status], STATUS_STYLES[found.status])
    console.print(line.append(f" ({tests})"))
    console.print(_indented(f"{found.clause.text}.", 4))
    for row in found.rows:
        console.print(_indented(row_in_words(row), 4, "dim"))
    for said in yardsticks(report, found):
        console.print(_indented(said, 4, "dim"))


def _indented(text: str, by: int, style: str = "") -> Padding:
    return Padding(Text(printable(text), style=style), (0, 0, 0, by), expand=False)


def _origin(data: Mapping[str, str]) -> str:
    """Where the data came from, and how many examples were used."""
    source = [data[key] for key in ("kind", "folder", "name", "version", "url", "source") if key in data]
    sizes = ", ".join(f"{data[split]} {split}" for split in ("train", "dev", "test"))
    return ", ".join(filter(None, [" ".join(source), sizes]))


def _print_measures(report: Report, console: Console) -> None:
    """A line for every measure; with several explanations, those of each below its name."""
    rows = [s for s in report.summaries if s.predicted is None and not s.yardstick]
    if len(rows) > MOST_ROWS:
        console.print(Text(f"See the HTML report for all {len(rows)} measures"))
        return
    compared = any(row.reference for row in rows)
    explanations = list(dict.fromkeys(row.explanation for row in rows))
    several = len([name for name in explanations if name]) > 1
    lines: list[list[str]] = []
    for explanation in explanations:
        lines += [[explanation or "the model, whatever the explanation"]] * several
        lines += [
            _cells(row, report.baseline_names, compared, indent=2 * several)
            for row in rows
            if row.explanation == explanation
        ]
    numbers = ["mean", "95 % interval", *report.baseline_names, "n (undefined)"]
    print_table(console, ["measure", "reference"] if compared else ["measure"], numbers, lines)


def _cells(row: Summary, baselines: Sequence[str], compared: bool, indent: int) -> list[str]:
    return [
        " " * indent + row.title,
        *([row.reference or ""] if compared else []),
        format_number(row.mean),
        str(row.interval or "–"),
        *(format_number(row.baselines.get(name)) for name in baselines),
        f"{row.n} ({row.undefined})",
    ]


def _print_costs(report: Report, console: Console) -> None:
    """Passes and milliseconds per explanation, of the methods that were asked for."""
    rows = []
    for cost in report.costs:
        if cost.method not in report.baseline_names:
            milliseconds = "–" if cost.milliseconds is None else f"{cost.milliseconds:.2f}"
            rows.append([cost.method, f"{cost.passes:.1f}", milliseconds])
    print_table(console, ["cost of one explanation"], ["model passes", "ms"], rows)
    if report.reused:
        console.print(Text(printable(report.reused)))


def _seeds(count: int) -> str:
    return f"{count} seed{'s' * (count > 1)}"
