"""The only way from results to views: each view is imported when a result is asked for it."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal

from .audit import AuditReport
from .comparison import Comparison
from .examples import Examples
from .explanation import Explanation, Explanations
from .judgement.records import Ranking, Verdict
from .planting.report import PlantedReport
from .report import Report
from .reproduction import Reproduction
from .result import Result
from .study import StudyReport
from .sweep import SweepReport

if TYPE_CHECKING:
    from ..host.catalog import Catalog
    from ..views.figures.figure import ReportFigure


def text_of(result: Result, width: int) -> str:
    """A result as a terminal of that width prints it, without colours."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, highlight=False, color_system=None)
    _printer(result)(result, console)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def _printer(result: Result) -> Callable[[Any, Any], None]:
    match result:
        case Report():
            from ..views.terminal.report import print_report

            return print_report
        case StudyReport():
            from ..views.terminal.report import print_study

            return print_study
        case SweepReport():
            from ..views.terminal.sweep import print_sweep

            return print_sweep
        case Comparison():
            from ..views.terminal.comparison import print_comparison

            return print_comparison
        case Reproduction():
            from ..views.terminal.reproduction import print_reproduction

            return print_reproduction
        case AuditReport():
            from ..views.terminal.audit import print_audit

            return print_audit
        case PlantedReport():
            from ..views.terminal.planted import print_planted

            return print_planted
        case Explanation():
            from ..views.terminal.explanation import print_explanation

            return print_explanation
        case Explanations():
            from ..views.terminal.explanation import print_explanations

            return print_explanations
    raise TypeError(f"{type(result).__name__} has no view")


def markdown_of(result: Result) -> str:
    """A result as a Markdown page."""
    from ..views import markdown

    match result:
        case Report():
            return markdown.report_page(result)
        case StudyReport():
            return markdown.study_page(result)
        case SweepReport():
            return markdown.sweep_page(result)
        case Comparison():
            return markdown.comparison_page(result)
        case Reproduction():
            from ..views.terminal.reproduction import markdown_section

            return markdown_section(result)
        case AuditReport():
            return markdown.audit_page(result)
        case PlantedReport():
            from ..views.markdown_planted import planted_page

            return planted_page(result)
        case Explanation():
            from ..views.markdown_explanation import explanation_page

            return explanation_page(result)
        case Explanations():
            from ..views.markdown_explanation import explanations_page

            return explanations_page(result)
    raise TypeError(f"{type(result).__name__} has no view")


def page_of(result: Result, catalog: Catalog | None = None, links: Mapping[str, str] | None = None) -> str:
    """A result as an HTML page; `links` lead from the cells of a sweep to their pages."""
    match result:
        case Report():
            from ..views.page.report import run_page

            return run_page(result, result.kept_examples(), catalog)
        case StudyReport():
            from ..views.page.report import study_page

            return study_page(result, catalog)
        case SweepReport():
            from ..views.page.sweep import sweep_page

            return sweep_page(result, links or {})
        case Comparison():
            from ..views.page.comparison import comparison_page

            return comparison_page(result)
        case Reproduction():
            from ..views.page.reproduction import reproduction_page

            return reproduction_page(result)
        case AuditReport():
            from ..views.page.audit import audit_page

            return audit_page(result)
        case PlantedReport():
            from ..views.page.planted import planted_page

            return planted_page(result)
        case Explanation():
            from ..views.page.explanation import page

            return page(result)
        case Explanations():
            from ..views.page.explanation import page_of_several

            return page_of_several(result)
    raise TypeError(f"{type(result).__name__} has no view")


def notebook_of(result: object) -> str:
    """A result, or a part of one, as the output of a notebook's cell."""
    from ..views.page import cells

    match result:
        case Report():
            return cells.of_report(result)
        case StudyReport():
            return cells.of_study(result)
        case SweepReport():
            return cells.of_sweep(result)
        case Comparison():
            return cells.of_comparison(result)
        case Reproduction():
            return cells.of_reproduction(result)
        case AuditReport():
            return cells.of_audit(result)
        case PlantedReport():
            return cells.of_planted(result)
        case Explanation():
            return cells.of_explanation(result)
        case Explanations():
            return cells.of_explanations(result)
        case Verdict():
            return cells.of_verdict(result)
        case Ranking():
            return cells.of_ranking(result)
        case Examples():
            return cells.of_examples(result)
    raise TypeError(f"{type(result).__name__} has no view")


def table_of(
    result: Result,
    form: Literal["latex", "csv", "markdown"],
    what: Literal["measures", "ranking"] | None,
    metrics: Collection[str],
    explanations: Collection[str],
) -> str:
    """One table of a result as text."""
    from ..views.export import to_text

    return to_text(result, form, what, metrics, explanations)


def figures_of(result: Result, catalog: Catalog | None = None) -> list[ReportFigure]:
    """The figures of a result; none for a kind of result that is not drawn."""
    match result:
        case Report():
            from ..views.figures.report import drawings

            return drawings(result, result.kept_examples(), catalog)
        case StudyReport():
            from ..views.figures.study import study_figures

            return study_figures(result)
        case SweepReport():
            from ..views.figures.heat_maps import heat_maps

            return heat_maps(result)
        case PlantedReport():
            from ..views.figures.planted import planted_figures

            return planted_figures(result)
        case Reproduction():
            from ..views.page.reproduction import figures

            return figures(result)
    return []
