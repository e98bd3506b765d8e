"""Writes the tables of docs/planted.md from the stored reports in docs/data/planted.

Run `python docs/data/planted.py` after a change; a test compares the page with what this writes.
"""

from __future__ import annotations

import re
from pathlib import Path

from attnx.results import PlantedReport
from attnx.views.markdown import table
from attnx.views.terminal.planted import check_rows, recovery_rows

HERE = Path(__file__).parent
PAGE = HERE.parent / "planted.md"
CHECKED = ("with", "swapped", "without")


def reports() -> dict[str, PlantedReport]:
    """The stored reports by the name of their file."""
    return {
        path.stem: PlantedReport.from_json(path.read_text(encoding="utf-8"))
        for path in sorted((HERE / "planted").glob("*.json"))
    }


def page() -> str:
    """The page with its tables as the stored reports have them."""
    sections = [line for name, report in reports().items() for line in section(name, report)]
    text = PAGE.read_text(encoding="utf-8")
    block = "\n".join(["<!-- results -->", *sections, "<!-- end -->"])
    return re.sub(r"<!-- results -->.*<!-- end -->", lambda _: block, text, flags=re.DOTALL)


def section(name: str, report: PlantedReport) -> list[str]:
    """What one test found: the answer, the explanations and the checks."""
    sizes = ", ".join(f"{report.data[split]} {split}" for split in ("train", "dev", "test"))
    alone = ("first word", "second word") if report.checks[0].alone else ()
    head = ("trigger", "seed", *CHECKED, *alone, "accuracy", "counted", "uses it")
    lines = [
        "",
        f"### {report.task}, {report.model}, {report.kind}",
        "",
        f"{sizes} texts, seeds {', '.join(map(str, report.seeds))}. {report.sentence} {report.verification} "
        f"(`docs/data/planted/{name}.json`)",
        "",
    ]
    if report.rows:
        columns = ("explanation", "found", "95 % interval", "AP", "removal test", "grade")
        lines += [*table(columns, recovery_rows(report)), ""]
    return [*lines, *table(head, check_rows(report)), ""]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
