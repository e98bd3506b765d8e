"""Puts what `make bench` measured into docs/performance.md: `python -m benchmarks.page`.

The page says where: everything between `<!-- measured: NAMES -->` and `<!-- end -->` is replaced, as the
rows of these benchmarks, or of all others for `*`; for `conditions`, as the machine and the date; for
`below target`, as a sentence that names the rows that miss their target; for `profiles`, as a table. For
`growth`, `avx2` and `slower`, the numbers are those of other files, which are measured by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from . import growth
from .measured import FILE, HEAD, OTHERS, Measured, line
from .timing import Row

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
PLACE = re.compile(r"(<!-- measured: (?P<what>[^>]+) -->\n)(?:.*?\n)??(<!-- end -->)", re.DOTALL)

GROWTH = ("| case | processor | most memory |", "| --- | --- | --- |")
TABLE = ("| command | seconds | parts | by library |", "| --- | --- | --- | --- |")


def filled(page: str, found: Measured) -> str:
    """The page with what was found in its places."""
    named = {name for place in PLACE.finditer(page) for name in place["what"].split()}

    def block(place: re.Match[str]) -> str:
        return f"{place[1]}{_text(place['what'].split(), found, named)}\n{place[3]}"

    return PLACE.sub(block, page)


def _text(what: list[str], found: Measured, named: set[str]) -> str:
    if what == ["conditions"]:
        minutes = sum(found.minutes.values())
        return (
            f"Measured on {found.date}: {found.processor}, torch {found.torch}, one thread. When it began, "
            f"{found.load:.1f} programs wanted a core."
            + (f" All rows took {minutes:.1f} minutes." if minutes else "")
        )
    if what[0] in OTHERS:
        other = Measured.read(OTHERS[what[0]])
        return "\n".join([f"Measured on {other.conditions}.", "", *_table(other.all_rows)])
    if what == ["growth"]:
        lines = [
            f"| {name} | {of.cpu:.0f} s | {of.megabytes:.0f} MB |"
            for name, of in growth.read(growth.FILE).items()
        ]
        return "\n".join([*GROWTH, *lines])
    if what == ["profiles"]:
        return "\n".join([*TABLE, *found.profiles])
    if what == ["below", "target"]:
        return _below(list(found.all_rows))
    names = [name for name in found.rows if (name in what) or (what == ["*"] and name not in named)]
    return "\n".join(_table(row for name in names for row in found.rows[name]))


def _table(rows: Iterable[Row]) -> list[str]:
    return ["```text", HEAD, *map(line, rows), "```"]


def _below(rows: list[Row]) -> str:
    """How many rows miss their target, and which."""
    missed = [row for row in rows if not row.met]
    if not missed:
        return f"All {len(rows)} rows meet their targets."
    named = [f"- {row.work}: {row.ratio:.2f} x of {row.target:g} x asked" for row in missed]
    return "\n".join(
        [f"{len(rows) - len(missed)} of {len(rows)} rows meet their targets. Below are:", "", *named]
    )


def main() -> None:
    """Write the page."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled(page, Measured.read(FILE)), encoding="utf-8")


if __name__ == "__main__":
    main()
