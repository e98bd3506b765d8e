"""Reports as pages: one file each that contains everything and loads nothing from a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...host.catalog import Catalog
from ..figures.figure import to_inline_svg
from ..figures.report import drawings
from .examples import browse, pair_of
from .glossary import look_up, terms_of
from .headline import of_run, of_study
from .measures import measure_table
from .ruler import ruler_of
from .strips import scale_of, strip_of
from .templating import render

if TYPE_CHECKING:
    from ...results.examples import Examples
    from ...results.judgement.records import FamilyEvidence, Verdict
    from ...results.report import Report
    from ...results.study import StudyReport


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts on one explanation, and the evidence of every family."""

    explanation: str
    verdicts: tuple[Verdict, ...]
    evidence: tuple[FamilyEvidence, ...]


def run_page(report: Report, examples: Examples | None = None, catalog: Catalog | None = None) -> str:
    """The page of a run: the answer, a browser of the stored examples, figures, and all measures folded."""
    from markupsafe import Markup

    catalog = catalog or Catalog.installed()
    browsed = None
    if examples is not None and len(examples):
        browsed = browse(examples, report.unit, pair=pair_of(report, examples))
    methods = {cost.method: report.component_name(cost.method) for cost in report.costs}
    headline = of_run(report)
    # The ruler is on the page already, as a table.
    figures = [d for d in drawings(report, examples, catalog) if d.name != "ruler"]
    return render(
        "run.html",
        title=f"{headline} {report.labels['model']} on {report.labels['task']}",
        headline=headline,
        report=report,
        terms=terms_of(report),
        judged=judged(report),
        ruler=ruler_of(report),
        measures=measure_table(report, catalog),
        figures=[(d, Markup(to_inline_svg(d))) for d in figures if d.leading],
        more_figures=[(d, Markup(to_inline_svg(d))) for d in figures if not d.leading],
        methods=look_up(catalog, "importance", methods),
        costs=[cost for cost in report.costs if cost.method not in report.baseline_names],
        browsed=browsed,
        payload=Markup(browsed.script()) if browsed else None,
    )


def study_page(report: StudyReport, catalog: Catalog | None = None) -> str:
    """The page of a study: every finding, with the published value where there is one."""
    catalog = catalog or Catalog.installed()
    measures = dict.fromkeys(f.measure for f in report.findings)
    scales = {m: scale_of([f for f in report.findings if f.measure == m]) for m in measures}
    entry = look_up(catalog, "study", {report.study.label: report.study.name}).get(report.study.label)
    headline = of_study(report, entry.summary if entry else "")
    return render(
        "study.html",
        title=" · ".join([report.study.label, *report.labels.values()]),
        headline=headline,
        report=report,
        entry=entry,
        rows=[(f, strip_of(f, scales[f.measure])) for f in report.findings],
        published=any(f.published is not None for f in report.findings),
    )


def judged(report: Report) -> tuple[Judged, ...]:
    """The verdicts by explanation, with the evidence of every family."""
    return tuple(
        Judged(
            name,
            tuple(v for v in report.verdicts if v.explanation == name),
            tuple(found for found in report.evidence if found.explanation == name),
        )
        for name in dict.fromkeys(v.explanation for v in report.verdicts)
    )
