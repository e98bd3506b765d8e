"""A reproduction in words and tables: for a terminal, and as a section of a Markdown page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from ...escaping import printable
from ...registry.experiments import SMOKE_TEST
from ...results.formatting import format_number
from ...results.reproduction import ClaimFound, ClaimStatus, Compared, Measured, Reproduction
from .tables import print_table, screen

STYLES: dict[ClaimStatus, str] = {
    "holds": "green",
    "does not hold": "red",
    "open": "yellow",
    "undertrained": "yellow",
}
MOST = 6  # comparisons of a claim that a terminal shows; all of them are in the files
LEGEND = "Each cell: mean ± half of its 95 % interval (published value)."
# What a reader is shown for a status.
STATUS_IN_WORDS: dict[ClaimStatus, str] = {
    "holds": "holds",
    "does not hold": "does not hold",
    "open": "inconclusive",
    "undertrained": "undertrained",
}
NOTHING_CLAIMED = "no claim is decided at this size: it only shows that everything runs (use --size standard)"


def print_reproduction(found: Reproduction, console: Console | None = None) -> None:
    """Print measured and published values, and whether every claim holds."""
    console = console or screen()
    console.print(Text(printable(f"{found.source}: {found.summary}"), style="bold"))
    for name, value in conditions(found):
        console.print(Text(printable(f"{name}: {value}")))
    console.print(Text(f"{LEGEND}\n"))
    head, rows = table(found)
    print_table(console, head[:1], head[1:], rows)
    console.print()
    for claim in found.tested:
        console.print(
            Text(printable(claim.says)), Text(status_of(claim), style=STYLES[claim.status]), sep=": "
        )
        shown = sorted(claim.compared, key=lambda one: one.status == claim.status)[:MOST]
        for one in shown:
            console.print(Text(printable(f"  {comparison(one)}")))
        for line in remainder(claim, len(shown)):
            console.print(Text(printable(f"  {line}"), style="dim"))
    for line in untested(found):
        console.print(Text(line, style="yellow"))
    for left in found.left_out:
        console.print(Text(printable(f"not run: {', '.join(left.rows)}: {left.reason}"), style="yellow"))
    for said in found.ours:
        console.print(Text(printable(f"our choice: {said}"), style="dim"))


def status_of(claim: ClaimFound) -> str:
    """The status of a claim in words; of one that is not decided also why, and what would decide it."""
    said = STATUS_IN_WORDS[claim.status]
    return f"{said} ({claim.reason}; would decide it: {claim.next_step})" if claim.reason else said


def conditions(found: Reproduction) -> Iterator[tuple[str, str]]:
    """Size, data and training, each with what it was."""
    seeds = f"seed{'s' * (len(found.seeds) > 1)} {', '.join(map(str, found.seeds))}"
    yield f"{found.size} size", f"{seeds}; {found.seconds:.0f} s"
    yield from found.data.items()
    for why in dict.fromkeys(f"{m.row} ({m.undertrained})" for m in found.trained if m.undertrained):
        yield "undertrained", why
    if found.training:
        yield "training", ", ".join(f"{key} {value}" for key, value in found.training.items())


def table(found: Reproduction) -> tuple[list[str], list[list[str]]]:
    """The head and the rows, a cell for every column that is measured."""
    shown = [column for column in found.columns if not column.given]
    rows = [[row, *(cell(found.value(row, c.name), c.digits) for c in shown)] for row in found.rows]
    return ["", *(c.name for c in shown)], rows


def cell(value: Measured, digits: int) -> str:
    """Mean, half of the interval and the published value, without needless zeros."""
    if value.mean is None:
        return "undefined" if value.published is None else f"undefined ({short(value.published, digits)})"
    half = None if value.high is None or value.low is None else (value.high - value.low) / 2
    spread = "" if half is None else f" ±{short(half, digits)}"
    published = "" if value.published is None else f" ({short(value.published, digits)})"
    return f"{short(value.mean, digits)}{spread}{published}"


def short(value: float, digits: int) -> str:
    """A number with so many decimals, .35 and not 0.35, so that a table fits."""
    text = f"{value:.{digits}f}"
    sign, text = ("−", text[1:]) if text.startswith("-") else ("", text)
    sign = sign if float(text) else ""
    return sign + (text[1:] if text.startswith("0.") else text)


def comparison(one: Compared) -> str:
    """A comparison with its numbers."""
    said = f"{one.what} = {format_number(one.difference)} {one.interval or '(no interval)'}"
    if one.published is not None:
        said += f", published {format_number(one.published)}"
    return f"{said}: {STATUS_IN_WORDS[one.status]}"


def remainder(claim: ClaimFound, shown: int) -> Iterator[str]:
    """How many comparisons of a claim are not shown, and how many were not run."""
    more = len(claim.compared) - shown
    if more:
        held = sum(one.status == "holds" for one in claim.compared)
        yield f"and {more} more; {held} of all {len(claim.compared)} comparisons hold"
    if claim.missing:
        yield f"{claim.missing} comparison{'s' * (claim.missing > 1)} of rows that were not run"


def untested(found: Reproduction) -> Iterator[str]:
    """How many claims were not tested, and why nothing is claimed by a smoke test."""
    if found.size == SMOKE_TEST:
        yield NOTHING_CLAIMED
    count = len(found.claims) - len(found.tested)
    if count:
        yield f"not tested: {count} claim{'s' * (count > 1)} about rows that were not run"


def markdown_section(found: Reproduction, parts: Sequence[Reproduction] = ()) -> str:
    """A section: commands and conditions of its parts, table, claims with all numbers, what was not run."""
    head, rows = table(found)
    lines = [f"## {found.source}", "", f"{found.summary} `{found.experiment}`", ""]
    for part in parts or (found,):
        said = "; ".join(f"{name}: {value}" for name, value in conditions(part))
        lines += ["```sh", part.command, "```", "", f"{part.date}: {said}.", ""]
    lines += [LEGEND, ""]
    lines += [_line(head), _line(["---", *["---:"] * (len(head) - 1)]), *map(_line, rows), ""]
    for claim in found.tested:
        lines.append(f"- **{STATUS_IN_WORDS[claim.status]}**: {_escaped(claim.says)}.")
        if claim.reason:
            lines.append(f"  - why: {_escaped(claim.reason)}; would decide it: {_escaped(claim.next_step)}")
        lines += [f"  - {_escaped(comparison(one))}" for one in claim.compared]
        lines += [f"  - {line}" for line in remainder(claim, len(claim.compared))]
    lines += [f"- {line[0].upper()}{line[1:]}." for line in untested(found)]
    for left in found.left_out:
        lines.append(f"- Not run: {_escaped(', '.join(left.rows))}: {_escaped(left.reason)}.")
    lines += [f"- Our choice: {_escaped(said)}." for said in found.ours]
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _escaped(text: str) -> str:
    return printable(text).replace("|", "\\|").replace("<", "&lt;").rstrip(".")
