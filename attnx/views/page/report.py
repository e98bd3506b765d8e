"""Reports as pages: one file each, with everything in it, that asks nothing of any network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...escaping import printable, script_json
from ...host.catalog import Catalog
from ...results.formatting import format_number
from ...results.wording import SEEN, STATUS_IN_WORDS, row_in_words
from ..figures.figure import to_inline_svg
from ..figures.report import drawings
from .examples import browse
from .glossary import Entry, look_up
from .strips import Scale, Strip, scale_of, strip_of

if TYPE_CHECKING:
    from jinja2 import Environment

    from ...results.examples import Examples
    from ...results.report import Report, Summary, Verdict
    from ...results.study import StudyReport

TEMPLATES = Path(__file__).parent / "templates"
MARKS: Final = {"supported": "✓", "contradicted": "✗", "chance": "≈", "unknown": "?"}
FAMILIES: Final[dict[str, tuple[str, str]]] = {
    "erasure": ("Deleting units", "Units are taken away and everything is computed anew."),
    "intervention": ("TrainingState attention", "Weights are changed while everything else is held."),
    "agreement": ("Agreement with other methods", "Do two methods rank the units alike?"),
    "information": ("Information", "Do higher ranks hold more information about the output?"),
    "ground-truth": ("Known units", "Are the units found that are known to matter?"),
    "context": ("Context", "Does a hidden state still stand for its own unit?"),
    "shape": ("Shape of the scores", "How few units are singled out, whatever they are?"),
    "retraining": ("Retraining", "What do other trainings give?"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table with its strip."""

    summary: Summary
    strip: Strip | None


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one metric below what it is."""

    metric: str
    entry: Entry | None
    rows: tuple[Row, ...]
    by_class: tuple[Summary, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """The metrics of one family."""

    name: str
    title: str
    says: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """Everything the verdict says of one explanation: each heading with its families."""

    explanation: str
    headings: tuple[tuple[Verdict, tuple[Verdict, ...]], ...]


def run_page(report: Report, examples: Examples | None = None, catalog: Catalog | None = None) -> str:
    """The page of a run: the verdict, the measures, figures, and a browser of the examples it kept."""
    from markupsafe import Markup

    catalog = catalog or Catalog.installed()
    browsed = browse(examples) if examples is not None and len(examples) else None
    methods = [cost.method for cost in report.costs]
    return render(
        "run.html",
        title=" · ".join(report.labels.values()),
        report=report,
        judged=judged(report),
        families=families(report, catalog),
        figures=[(d, Markup(to_inline_svg(d))) for d in drawings(report, examples, catalog)],
        methods=look_up(catalog, "importance", methods),
        costs=_costs(report),
        browsed=browsed,
        payload=Markup(script_json(browsed.payload)) if browsed else None,
    )


def study_page(report: StudyReport, catalog: Catalog | None = None) -> str:
    """The page of a study: every finding beside what was published."""
    catalog = catalog or Catalog.installed()
    measures = dict.fromkeys(f.measure for f in report.findings)
    scales = {m: scale_of([f for f in report.findings if f.measure == m]) for m in measures}
    return render(
        "study.html",
        title=" · ".join([report.study.label, *report.labels.values()]),
        report=report,
        entry=look_up(catalog, "study", [report.study.name]).get(report.study.name),
        rows=[(f, strip_of(f, scales[f.measure])) for f in report.findings],
        published=any(f.published is not None for f in report.findings),
    )


def fragment(report: Report) -> str:
    """The verdict and the measures for a notebook's cell."""
    return render("fragment.html", report=report, judged=judged(report), study=None)


def study_fragment(report: StudyReport) -> str:
    """The findings for a notebook's cell."""
    return render("fragment.html", report=report, judged=(), study=report)


def render(template: str, **context: Any) -> str:
    """A template with its context; every text in it is escaped."""
    return _environment().get_template(template).render(**context)


def judged(report: Report) -> tuple[Judged, ...]:
    """The verdicts by explanation, each heading before its families."""
    found = []
    for name in dict.fromkeys(v.explanation for v in report.verdicts):
        mine = [v for v in report.verdicts if v.explanation == name]
        headings = tuple(
            (v, tuple(f for f in mine if f.family and f.heading == v.heading)) for v in mine if not v.family
        )
        found.append(Judged(name, headings))
    return tuple(found)


def families(report: Report, catalog: Catalog) -> tuple[Family, ...]:
    """The measures by family, each metric with what it is."""
    entries = look_up(catalog, "metric", dict.fromkeys(s.metric for s in report.summaries))
    order = [name for name in FAMILIES if any(s.family == name for s in report.summaries)]
    found = []
    for name in order:
        mine = [s for s in report.summaries if s.family == name]
        blocks = tuple(
            _block(metric, entries.get(metric), [s for s in mine if s.metric == metric])
            for metric in dict.fromkeys(s.metric for s in mine)
        )
        found.append(Family(name, *FAMILIES[name], blocks))
    return tuple(found)


def _block(metric: str, entry: Entry | None, summaries: Sequence[Summary]) -> Block:
    rows = [s for s in summaries if s.group == "all"]
    scales: dict[str, Scale | None] = {
        measure: scale_of([s for s in rows if s.measure == measure]) for measure in {s.measure for s in rows}
    }
    return Block(
        metric,
        entry,
        tuple(Row(s, strip_of(s, scales[s.measure])) for s in rows),
        tuple(s for s in summaries if s.group != "all" and s.n),
    )


def _costs(report: Report) -> list[tuple[str, float, float | None]]:
    """Method, passes and milliseconds of one explanation, of the methods that were asked for."""
    examples = int(report.provenance.data.get("test", 0)) * len(report.quality)
    return [
        (
            cost.method,
            cost.passes,
            1000 * report.seconds[key] / examples
            if examples and (key := f"importance {cost.method}") in report.seconds
            else None,
        )
        for cost in report.costs
        if cost.method not in report.baseline_names
    ]


def _finalize(value: Any) -> Any:
    """Control characters of a text made visible; what is markup is ours."""
    return printable(value, lines=True) if type(value) is str else value


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters["number"] = format_number
    environment.filters["words"] = row_in_words
    environment.filters["sentence"] = lambda text: text[:1].upper() + text[1:]
    environment.globals |= {
        "status": STATUS_IN_WORDS,
        "marks": MARKS,
        "seen": SEEN,
        "style": Markup((TEMPLATES / "page.css").read_text(encoding="utf-8")),
        "script": Markup((TEMPLATES / "browser.js").read_text(encoding="utf-8")),
    }
    return environment
