"""Runs, studies and weights in brief: what they were and what came out."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ...escaping import printable
from ...results.formatting import format_number
from ...results.judgement.wording import GRADE_WORDS
from ...results.overview import KeptFiles, StoredRun, StoredWeights
from .tables import print_table, screen


def lines_json(lines: Sequence[StoredRun]) -> str:
    """All lines as JSON text."""
    return json.dumps([line.to_dict() for line in lines], indent=1, ensure_ascii=False) + "\n"


def print_runs(lines: Sequence[StoredRun], last: int, where: str, console: Console | None = None) -> None:
    """Print the newest of these runs, and how many there are; `last` 0 prints all.

    Each has a few lines of its own, so that its name can be copied.
    """
    console = console or screen()
    if not lines:
        console.print(Text(printable(f"No runs in {where}.")))
        return
    shown = lines[: last or None]
    odd = sum(line.kind == "unreadable" for line in lines)
    left = f"; {odd} cannot be read" if odd else ""
    more = f"; the {len(shown)} newest are shown (--last 0 shows all)" if len(shown) < len(lines) else ""
    parts = [part for line in shown for part in _paragraph(line, console.width)]
    console.print(Text("\n".join([*parts, "", printable(f"{len(lines)} in {where}{more}{left}")])))


def _paragraph(line: StoredRun, width: int) -> list[str]:
    seeds = f"  {len(line.seeds)} seed{'s' * (len(line.seeds) > 1)}" if line.seeds else ""
    numbers = [f"{name} {format_number(value)}" for name, value in line.numbers.items()]
    verdicts = [f"{of}: {GRADE_WORDS[grade]}" for of, grade in line.verdicts.items()]
    below = [line.reason, " · ".join(line.labels.values()), "; ".join([*verdicts, *numbers])]
    wrapped = [
        f"  {part}"
        for text in filter(None, below)
        for part in textwrap.wrap(printable(text), width - 2, break_on_hyphens=False)
    ]
    return [f"{printable(line.name)}  {line.written:%Y-%m-%d %H:%M}{seeds}", *wrapped]


def weights_json(rows: Sequence[StoredWeights]) -> str:
    """Weights as JSON text."""
    found = [
        {
            "name": row.folder.name,
            "written": row.written.isoformat(timespec="seconds"),
            "bytes": row.bytes,
            "runs": list(row.runs),
        }
        for row in rows
    ]
    return json.dumps(found, indent=1) + "\n"


def kept_json(rows: Sequence[KeptFiles]) -> str:
    """What is kept as JSON text: each kind with its files and bytes."""
    return json.dumps([{"what": one.what, "files": one.files, "bytes": one.bytes} for one in rows]) + "\n"


def print_kept(rows: Sequence[KeptFiles], console: Console | None = None) -> None:
    """Print what is kept: each kind with its files and bytes."""
    console = console or screen()
    cells = [[one.what, str(one.files), f"{one.bytes / 1e6:.1f}"] for one in rows]
    print_table(console, ["kept"], ["files", "MB"], cells)


def print_weights(rows: Sequence[StoredWeights], console: Console | None = None) -> None:
    """Print stored weights with the runs that use them."""
    console = console or screen()
    cells = [
        [
            row.folder.name,
            f"{row.written:%Y-%m-%d %H:%M}",
            f"{row.bytes / 1e6:.1f}",
            ", ".join(row.runs) or "no run",
        ]
        for row in rows
    ]
    if cells:
        print_table(console, ["weights"], ["written", "MB"], cells, ["used by"])
    unnamed = sum(not row.runs for row in rows)
    total = sum(row.bytes for row in rows) / 1e6
    console.print(Text(f"\n{len(rows)} weights, {total:.1f} MB; {unnamed} not used by any run"))
