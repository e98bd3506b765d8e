"""Results as cells of a notebook: short, self-contained, and changing nothing of the page around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...host.catalog import Catalog
from . import headline
from .examples import pair_of_methods
from .explanation import ColouredUnit, shown
from .glossary import look_up
from .ruler import ruler_of, ruler_of_ranking
from .templating import render

if TYPE_CHECKING:
    from ...results.audit import AuditReport
    from ...results.comparison import Comparison
    from ...results.examples import Examples, StoredExample
    from ...results.explanation import Explanation, Explanations
    from ...results.judgement.records import Ranked, Verdict
    from ...results.planting.report import PlantedReport
    from ...results.report import Report
    from ...results.reproduction import Reproduction
    from ...results.study import StudyReport
    from ...results.sweep import SweepReport

MOST_ROWS = 12  # of a table in a cell; the page has all
MOST_EXAMPLES = 3


def of_report(report: Report) -> str:
    """The question, the answer, the ruler, and the measures folded."""
    return render("cell_report.html", report=report, headline=headline.of_run(report), ruler=ruler_of(report))


def of_study(report: StudyReport) -> str:
    """The findings."""
    head, rows = ("setting", "measure", "mean", "95 % interval", "published"), report.findings
    cells = [[f.setting, f.title, f.mean, f.interval, f.published] for f in rows]
    study = {report.study.label: report.study.name}
    entry = look_up(Catalog.installed(), "study", study).get(report.study.label)
    return _table(headline.of_study(report, entry.summary if entry else ""), head, cells)


def of_sweep(report: SweepReport) -> str:
    """The most faithful cells."""
    head = ("combination", "explanation", "accuracy", "share", "grade")
    cells = [
        [report.apart(row) or row.task, row.explanation, row.accuracy, _Share(row.share), row.faithfulness]
        for row in report.ranked
    ]
    return _table(headline.of_sweep(report), head, cells)


def of_comparison(comparison: Comparison) -> str:
    """The significant differences."""
    head = ("measure", "explanation", "reference", "A", "other", "difference", "95 % interval", "p", "is")
    rows = [
        [
            *(f"{row.run}: {row.title}", row.explanation, row.reference, row.first, row.other),
            *(row.difference, row.interval, row.chance, row.outcome),
        ]
        for row in comparison.significant
    ]
    return _table(headline.of_comparison(comparison), head, rows)


def of_reproduction(found: Reproduction) -> str:
    """The claims."""
    rows = [[claim.says, claim.status] for claim in found.tested]
    return _table(headline.of_reproduction(found), ("claim", "status"), rows)


def of_audit(report: AuditReport) -> str:
    """The metrics, the most reliable first."""
    from ..terminal.audit import metric_rows

    head = ("metric", "with", "inversions", "ordered correctly")
    return _table(headline.of_audit(report), head, [row[:4] for row in metric_rows(report)])


def of_planted(report: PlantedReport) -> str:
    """How often each explanation finds the trigger."""
    from ..terminal.planted import recovery_rows

    head = ("explanation", "found", "95 % interval", "AP", "removal test", "grade")
    return _table(headline.of_planted(report), head, recovery_rows(report) if report.rows else [])


def of_explanation(explanation: Explanation) -> str:
    """One text, coloured by every method."""
    about = headline.of_explanation(explanation)
    return render("cell_explanation.html", headline=about, **shown(explanation))


def of_explanations(explanations: Explanations) -> str:
    """Several texts."""
    return "\n".join(map(of_explanation, explanations))


def of_verdict(verdict: Verdict) -> str:
    """The question, the grade, and the answer in words."""
    return render("cell_verdict.html", v=verdict)


def of_ranking(ranking: Sequence[Ranked]) -> str:
    """Explanations on the ruler."""
    return render("cell_ranking.html", ruler=ruler_of_ranking(ranking))


def of_examples(examples: Examples) -> str:
    """The first examples, coloured by two methods."""
    methods = pair_of_methods(examples)
    few = [(one, _coloured(one, methods)) for one in examples[:MOST_EXAMPLES]]
    return render("cell_examples.html", examples=examples, few=few)


def _coloured(example: StoredExample, methods: Sequence[str]) -> list[tuple[str, list[ColouredUnit]]]:
    found = []
    for name in methods:
        scores = example.seen[0].scores.get(name)
        if scores is not None and example.units:
            largest = max((abs(score) for score in scores if score is not None), default=0.0)
            units = zip(example.units, scores, strict=True)
            coloured = [ColouredUnit(unit, s, (s or 0.0) / largest if largest else 0.0) for unit, s in units]
            found.append((name, coloured))
    return found


class _Share(float):
    """A number that is shown in percent."""

    def __new__(cls, value: float | None) -> Any:
        return None if value is None else super().__new__(cls, value)


def _table(about: headline.Headline, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    return render(
        "cell_table.html",
        headline=about,
        head=head,
        rows=rows[:MOST_ROWS],
        left=max(0, len(rows) - MOST_ROWS),
        is_share=lambda cell: isinstance(cell, _Share),
    )
