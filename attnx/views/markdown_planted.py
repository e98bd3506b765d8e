"""The test with a planted trigger as a Markdown page."""

from __future__ import annotations

from ..escaping import markdown
from ..results.planting.report import PlantedReport
from .markdown import table
from .terminal.planted import CHECKED, LEGEND, check_rows, recovery_rows


def planted_page(report: PlantedReport) -> str:
    """The answer, every explanation, and how the models were checked."""
    alone = ("first word", "second word") if report.checks[0].alone else ()
    lines = [
        f"# A planted trigger: {markdown(report.task)}, {markdown(report.model)}",
        "",
        markdown(report.sentence),
        markdown(report.verification),
        "",
    ]
    if report.rows:
        lines += [
            *table(
                ("explanation", "found", "95 % interval", "AP", "removal test", "grade"),
                recovery_rows(report),
            ),
            "",
            LEGEND,
            "",
        ]
    head = ("trigger", "seed", "with", "swapped", "without", *alone, "accuracy", "counted", "uses it")
    lines += ["## The models", "", *table(head, check_rows(report)), "", CHECKED, ""]
    lines += [f"- {markdown(warning.text)}" for warning in report.warnings]
    return "\n".join(lines).rstrip() + "\n"
