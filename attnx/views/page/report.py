"""Reports as pages: one file each that contains everything and loads nothing from a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...escaping import script_json
from ...host.catalog import Catalog
from ..figures.figure import to_inline_svg
from ..figures.report import drawings
from .examples import browse
from .glossary import Entry, look_up, terms_of
from .ruler import ruler_of
from .strips import Scale, Strip, scale_of, strip_of
from .templating import render

if TYPE_CHECKING:
    from ...results.examples import Examples
    from ...results.judgement.records import FamilyEvidence, Verdict
    from ...results.report import Report, Summary
    from ...results.study import StudyReport

# Title and question of every family of metrics. {units} is "words" in tasks of text.
FAMILIES: Final[dict[str, tuple[str, str]]] = {
    "erasure": ("Removing {units}", "Does the output change when {units} are removed?"),
    "intervention": ("Changing attention", "Does the output change when only attention weights change?"),
    "agreement": ("Agreement with other methods", "Do two methods rank the {units} alike?"),
    "information": (
        "Information in hidden states",
        "Do hidden states with higher weights carry more information about the output?",
    ),
    "ground-truth": ("Known {units}", "Does it find the {units} that are known to matter?"),
    "context": ("Context in hidden states", "Does a hidden state still stand for its own {unit}?"),
    "shape": ("Shape of the scores", "How few {units} get most of the score, whichever they are?"),
    "randomisation": (
        "Another model, another class",
        "Does the explanation change when the model is reset, or when another class is explained?",
    ),
    "robustness": (
        "Robustness",
        "Does the explanation stay the same when the input changes very little? It decides nothing.",
    ),
    "retraining": ("Retraining", "What do other training runs give?"),
}


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """A row of a table with its strip."""

    summary: Summary
    strip: Strip | None


@dataclass(frozen=True, slots=True)
class MetricSection:
    """One metric: what it is, and its rows."""

    metric: str
    entry: Entry | None
    rows: tuple[MeasureRow, ...]
    by_class: tuple[Summary, ...]


@dataclass(frozen=True, slots=True)
class FamilySection:
    """The metrics of one family."""

    name: str
    title: str
    says: str
    blocks: tuple[MetricSection, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts on one explanation, and the evidence of every family."""

    explanation: str
    verdicts: tuple[Verdict, ...]
    evidence: tuple[FamilyEvidence, ...]


def run_page(report: Report, examples: Examples | None = None, catalog: Catalog | None = None) -> str:
    """The page of a run: the verdict, the measures, figures, and a browser of the stored examples."""
    from markupsafe import Markup

    catalog = catalog or Catalog.installed()
    browsed = browse(examples, report.unit) if examples is not None and len(examples) else None
    methods = {cost.method: report.component_name(cost.method) for cost in report.costs}
    return render(
        "run.html",
        title=" · ".join(report.labels.values()),
        report=report,
        terms=terms_of(report),
        judged=judged(report),
        ruler=ruler_of(report),
        families=families(report, catalog),
        figures=[(d, Markup(to_inline_svg(d))) for d in drawings(report, examples, catalog)],
        methods=look_up(catalog, "importance", methods),
        costs=[cost for cost in report.costs if cost.method not in report.baseline_names],
        browsed=browsed,
        payload=Markup(script_json(browsed.payload)) if browsed else None,
    )


def study_page(report: StudyReport, catalog: Catalog | None = None) -> str:
    """The page of a study: every finding, with the published value where there is one."""
    catalog = catalog or Catalog.installed()
    measures = dict.fromkeys(f.measure for f in report.findings)
    scales = {m: scale_of([f for f in report.findings if f.measure == m]) for m in measures}
    return render(
        "study.html",
        title=" · ".join([report.study.label, *report.labels.values()]),
        report=report,
        entry=look_up(catalog, "study", {report.study.label: report.study.name}).get(report.study.label),
        rows=[(f, strip_of(f, scales[f.measure])) for f in report.findings],
        published=any(f.published is not None for f in report.findings),
    )


def fragment(report: Report) -> str:
    """The verdict and the measures for the cell of a notebook."""
    return render("fragment.html", report=report, judged=judged(report), ruler=ruler_of(report), study=None)


def study_fragment(report: StudyReport) -> str:
    """The findings for the cell of a notebook."""
    return render("fragment.html", report=report, judged=(), ruler=None, study=report)


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


def families(report: Report, catalog: Catalog) -> tuple[FamilySection, ...]:
    """The measures by family, each metric with its documentation."""
    entries = look_up(
        catalog, "metric", {s.metric: report.component_name(s.metric) for s in report.summaries}
    )
    order = [name for name in FAMILIES if any(s.family == name for s in report.summaries)]
    found = []
    for name in order:
        mine = [s for s in report.summaries if s.family == name]
        blocks = tuple(
            _block(metric, entries.get(metric), [s for s in mine if s.metric == metric])
            for metric in dict.fromkeys(s.metric for s in mine)
        )
        title, says = (text.format(unit=report.unit, units=f"{report.unit}s") for text in FAMILIES[name])
        found.append(FamilySection(name, title, says, blocks))
    return tuple(found)


def _block(metric: str, entry: Entry | None, summaries: Sequence[Summary]) -> MetricSection:
    rows = [s for s in summaries if s.predicted is None]
    scales: dict[str, Scale | None] = {
        measure: scale_of([s for s in rows if s.measure == measure]) for measure in {s.measure for s in rows}
    }
    return MetricSection(
        metric,
        entry,
        tuple(MeasureRow(s, strip_of(s, scales[s.measure])) for s in rows),
        tuple(s for s in summaries if s.predicted is not None and s.n),
    )
