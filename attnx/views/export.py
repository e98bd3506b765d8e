"""Reports for a paper: tables as LaTeX and CSV, figures as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

from ..escaping import latex, printable
from ..host.catalog import Catalog
from ..results.formatting import format_number
from ..results.report import Report
from ..results.study import StudyReport

TextFormat = Literal["latex", "csv", "markdown"]
FigureFormat = Literal["svg", "png"]
TABLES: Final = get_args(TextFormat)
FIGURES: Final = get_args(FigureFormat)


def to_text(report: Report | StudyReport, form: TextFormat) -> str:
    """The report's table in one of the formats that are text."""
    if form == "markdown":
        return report.to_markdown()
    if form == "csv":
        return _csv(report)
    return _latex_study(report) if isinstance(report, StudyReport) else _latex_run(report)


def write_figures(
    report: Report | StudyReport, form: FigureFormat, folder: Path, catalog: Catalog | None = None
) -> list[Path]:
    """Write every figure into a folder; plugins of the catalog draw theirs."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for drawing in report.figures(catalog):
        path = folder / f"{drawing.name}.{form}"
        drawing.save(path)
        written.append(path)
    return written


def _csv(report: Report | StudyReport) -> str:
    """Every number at full precision, one row for a summary or a finding."""
    rows: list[dict[str, Any]] = []
    if isinstance(report, StudyReport):
        rows = [finding.model_dump(exclude={"seeds"}) for finding in report.findings]
    else:
        for summary in report.summaries:
            row = summary.model_dump(exclude={"seeds", "baselines", "predicted"}) | {"group": summary.group}
            rows.append(row | {name: summary.baselines.get(name) for name in report.baseline_names})
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    for row in rows:  # labels are anybody's, and a terminal may show this
        writer.writerow(
            {k: printable(value) if isinstance(value, str) else value for k, value in row.items()}
        )
    return buffer.getvalue()


def _latex_run(report: Report) -> str:
    """The measures over all examples, each explanation in a block of its own."""
    rows = [s for s in report.summaries if s.predicted is None]
    compared = any(s.reference for s in rows)
    names = report.baseline_names
    head = ["Measure", *(["Reference"] if compared else []), "Mean", "95\\,\\% interval"]
    head += [*(latex(name) for name in names), "$n$"]
    several = len({s.explanation for s in rows}) > 1
    body: list[str] = []
    for explanation in dict.fromkeys(s.explanation for s in rows):
        if several:
            body += ["\\midrule"] * bool(body)
            body.append(
                f"\\multicolumn{{{len(head)}}}{{l}}{{\\emph{{{latex(explanation or 'the model')}}}}} \\\\"
            )
        body += [
            _line(
                [
                    latex(s.title),
                    *([latex(s.reference or "")] if compared else []),
                    _number(s.mean),
                    latex(str(s.interval or "–")),
                    *(_number(s.baselines.get(name)) for name in names),
                    str(s.n),
                ]
            )
            for s in rows
            if s.explanation == explanation
        ]
    words = 2 if compared else 1
    interval = "over seeds and examples" if len(report.spec.seeds) > 1 else "over examples"
    caption = f"{' · '.join(report.labels.values())}: means with 95 % intervals {interval}, and baselines."
    return _table("l" * words + "r" * (len(head) - words), head, body, caption, report.fingerprint)


def _latex_study(report: StudyReport) -> str:
    published = any(f.published is not None for f in report.findings)
    head = ["Setting", "Measure", "Mean", "95\\,\\% interval", *(["Published"] if published else [])]
    body = [
        _line(
            [
                latex(f.setting),
                latex(f.title),
                _number(f.mean),
                latex(str(f.interval or "–")),
                *([_number(f.published)] if published else []),
            ]
        )
        for f in report.findings
    ]
    caption = f"{report.study.label}: {' · '.join(report.labels.values())}."
    return _table("ll" + "r" * (len(head) - 2), head, body, caption, report.study.name)


def _table(columns: str, head: Sequence[str], body: Iterable[str], caption: str, label: str) -> str:
    """A booktabs table; the comment says what the preamble needs."""
    lines = [
        "% \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{latex(caption)}}}",
        f"\\label{{tab:{label or 'run'}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
        _line(head),
        "\\midrule",
        *body,
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + " \\\\"


def _number(value: float | None) -> str:
    """A number with a minus sign as long as TeX sets it."""
    text = latex(format_number(value))
    return f"${text}$" if text.startswith("-") and text != "--" else text
