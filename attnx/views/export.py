"""Results for a paper: tables as LaTeX, Markdown and CSV, figures as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final, Literal, get_args

from ..escaping import latex, printable
from ..host.catalog import Catalog
from ..results.formatting import Interval, format_number
from ..results.judgement.wording import percent
from ..results.result import Result
from .export_tables import What, table_of
from .markdown import table as markdown_table
from .printed_table import Cell, Share, Shares, Table

TextFormat = Literal["latex", "csv", "markdown"]
FigureFormat = Literal["svg", "pdf", "png"]
TABLES: Final = get_args(TextFormat)
FIGURES: Final = get_args(FigureFormat)


def to_text(
    result: Result,
    form: TextFormat,
    what: What | None = None,
    metrics: Collection[str] = (),
    explanations: Collection[str] = (),
) -> str:
    """One table of a result as text; in Markdown the whole result, if nothing is chosen."""
    if form == "markdown" and what is None and not metrics and not explanations:
        return result.to_markdown()
    table = table_of(result, what, metrics, explanations)
    return {"latex": _latex, "csv": _csv, "markdown": _markdown}[form](table)


def write_figures(
    result: Result, form: FigureFormat, folder: Path, catalog: Catalog | None = None
) -> list[Path]:
    """Write every figure into a folder; plugins of the catalog draw theirs."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for drawing in result.figures(catalog):
        path = folder / f"{drawing.name}.{form}"
        drawing.save(path)
        written.append(path)
    return written


def _csv(table: Table) -> str:
    """Every number at full precision."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(table.records[0]) if table.records else [], lineterminator="\n")
    writer.writeheader()
    for row in table.records:  # labels are anybody's, and a terminal may show this
        writer.writerow(
            {k: printable(value) if isinstance(value, str) else value for k, value in row.items()}
        )
    return buffer.getvalue()


def _markdown(table: Table) -> str:
    """The table with its caption; the heading of a block is a row of its own."""
    filled = ([*map(_shown, row), *[""] * (len(table.head) - len(row))] for row in table.rows)
    return "\n".join([*markdown_table(table.head, filled), "", table.caption]) + "\n"


def _latex(table: Table) -> str:
    """A booktabs table; the comment says what the preamble needs."""
    body: list[str] = []
    for row in table.rows:
        if len(row) == 1:
            body += ["\\midrule"] * bool(body)
            body.append(f"\\multicolumn{{{len(table.head)}}}{{l}}{{\\emph{{{_set(row[0])}}}}} \\\\")
        else:
            body.append(_line(map(_set, row)))
    whole = [row for row in table.rows if len(row) > 1]
    columns = "".join(
        "l" if name != "p" and all(isinstance(row[at], str) for row in whole) else "r"
        for at, name in enumerate(table.head)
    )
    lines = [
        "% \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{_in_latex(table.caption)}}}",
        f"\\label{{tab:{table.label}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
        _line(_head(name) for name in table.head),
        "\\midrule",
        *body,
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + " \\\\"


def _head(name: str) -> str:
    return "$n$" if name == "n" else _in_latex(name)


def _in_latex(text: str) -> str:
    """Words for LaTeX: a thin space before a percent sign, and a minus sign as long as TeX sets it."""
    return latex(text).replace(" \\%", "\\,\\%").replace("−", "$-$")


def _set(cell: Cell) -> str:
    """A cell for LaTeX."""
    if isinstance(cell, Interval):
        return f"[{_set(cell.low)}, {_set(cell.high)}]"
    if isinstance(cell, Shares):
        return f"[{_set(Share(cell.low))}, {_set(Share(cell.high))}]" if cell.low is not None else "--"
    if isinstance(cell, Share):
        text = percent(cell.value)
        number = f"$-${text[1:]}" if text.startswith("−") else text
        return number.replace(" %", "\\,\\%") if cell.value is not None else "--"
    if isinstance(cell, float):
        text = format_number(cell)
        return f"${latex(text)}$" if text.startswith("-") else latex(text)
    if cell is None:
        return "--"
    return _in_latex(str(cell))


def _shown(cell: Cell) -> str:
    """A cell for people to read as text."""
    if isinstance(cell, Interval):
        return str(cell).replace("-", "−")
    if isinstance(cell, Shares):
        return f"[{percent(cell.low)}, {percent(cell.high)}]" if cell.low is not None else "–"
    if isinstance(cell, Share):
        return percent(cell.value)
    if isinstance(cell, float) or cell is None:
        return format_number(cell).replace("-", "−")
    return str(cell)
