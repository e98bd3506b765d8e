"""Results as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..escaping import markdown
from ..results.formatting import format_number

if TYPE_CHECKING:
    from ..results.audit import AuditReport
    from ..results.comparison import Comparison
    from ..results.report import Report, Summary
    from ..results.study import StudyReport
    from ..results.sweep import SweepReport


def report_page(report: Report) -> str:
    """Verdict, warnings, quality and measures of a run; curves and code hashes are only in the JSON."""
    names = report.baseline_names
    rows = [s for s in report.summaries if s.predicted is None]
    by_class = [s for s in report.summaries if s.predicted is not None and s.n]
    lines = [
        f"# {markdown(report.labels['task'])}, {markdown(report.labels['model'])}",
        "",
        f"{f'Run `{report.fingerprint}`. ' if report.fingerprint else ''}{_setting(report)}",
        "",
        *_warnings(report),
        *_verdicts(report),
        *_data(report.provenance.data),
        "## Model quality on the test split",
        "",
        *table(
            ("seed", "accuracy", "macro F1", "ROC-AUC", "most frequent test label", "best epoch"),
            (
                (
                    str(q.seed),
                    *map(format_number, (q.accuracy, q.f1, q.roc_auc, q.majority)),
                    f"{q.best_epoch} of {q.epochs}",
                )
                for q in report.quality
            ),
        ),
        "",
        "The column “most frequent test label” has the accuracy of always predicting that label.",
        "",
        "## Measures",
        "",
        f"Mean over seeds with its 95 % interval {_covered(report)}, standard deviation (sd) over examples, "
        f"and the mean of the same measure for the baselines ({', '.join(map(markdown, names)) or 'none'}). "
        "n counts examples over all seeds; undefined ones are not in the mean.",
        "",
        *table(
            ("measure", "explanation", "reference", "mean", "interval", "sd", *names, "n", "undefined"),
            ((*_names(s), *_numbers(s, names)) for s in rows),
        ),
    ]
    if by_class:
        lines += [
            "",
            "## By predicted label",
            "",
            *table(
                ("measure", "explanation", "reference", "label", "mean", "interval", "sd", "n", "undefined"),
                ((*_names(s), s.predicted or "", *_numbers(s, ())) for s in by_class),
            ),
        ]
    return "\n".join(lines) + "\n"


def study_page(report: StudyReport) -> str:
    """The findings of a study, with published values where there are some."""
    published = any(f.published is not None for f in report.findings)
    head = ["setting", "measure", "mean", "interval", "n", *(["published", "in"] if published else [])]
    rows = [
        (
            *(f.setting, f.title, format_number(f.mean), str(f.interval or "–"), str(f.n)),
            *((format_number(f.published), f.source) if published else ()),
        )
        for f in report.findings
    ]
    lines = [
        f"# {markdown(report.study.label)}: {markdown(report.labels['task'])}, "
        f"{markdown(report.labels['model'])}",
        "",
        _setting(report),
        "",
        *_warnings(report),
        *table(head, rows),
        "",
        *_data(report.data),
    ]
    return "\n".join(lines).rstrip() + "\n"


def sweep_page(report: SweepReport) -> str:
    """Every cell of a sweep with its verdicts and measures, then the cells without a result."""
    from ..results.judgement.wording import GRADE_WORDS, percent

    measures = report.measures
    head = ["cell", "explanation", "accuracy", "share", "faithful", "marked", *measures.values()]
    rows = []
    for row in report.rows:
        grades = (row.faithfulness, row.interpretability)
        values = (row.values.get(name) for name in measures)
        rows.append(
            (
                *(report.apart(row), row.explanation, format_number(row.accuracy), percent(row.share)),
                *(GRADE_WORDS[grade] if grade else "–" for grade in grades),
                *(format_number(value.mean) if value else "–" for value in values),
            )
        )
    unfinished = [
        *(("failed", cell.cell, cell.reason) for cell in report.failed),
        *(("incompatible", cell.cell, cell.reason) for cell in report.refused),
    ]
    lines = ["# Sweep", "", *table(head, rows)]
    if unfinished:
        lines += ["", "## Cells without a result", "", *table(("why", "cell", "reason"), unfinished)]
    return "\n".join(lines) + "\n"


def comparison_page(comparison: Comparison) -> str:
    """Every difference from the first run, with its interval and corrected p-value."""
    lines = [
        f"# {markdown(comparison.title)}",
        "",
        *(f"- {run.letter}: `{run.run}` {markdown(run.title)}" for run in comparison.runs),
        "",
        f"{comparison.examples} shared examples, seeds {', '.join(map(str, comparison.seeds))}. "
        f"p is corrected for all {comparison.tested} tests (Holm); the intervals are not.",
        "",
        *table(
            ("run", "measure", "explanation", "reference", "A", "run", "run − A", "interval", "p", "run is"),
            (
                (
                    *(row.run, row.title, row.explanation or "", row.reference or ""),
                    *map(format_number, (row.first, row.other, row.difference)),
                    *(str(row.interval or "–"), row.chance, row.outcome),
                )
                for row in comparison.rows
            ),
        ),
        "",
        *(f"- {markdown(note)}" for note in comparison.notes),
    ]
    return "\n".join(lines).rstrip() + "\n"


def audit_page(report: AuditReport) -> str:
    """How often every metric preferred a wrong explanation."""
    lines = [
        "# Audit of metrics",
        "",
        f"Tasks {', '.join(map(markdown, report.tasks))}; seeds {', '.join(map(str, report.seeds))}; "
        f"{report.examples} test examples each.",
        "",
        *table(
            ("metric", "measure", "reference", "inversions", "ordered correctly", "comparisons"),
            (
                (
                    *(row.metric, row.measure, row.reference or ""),
                    *map(str, (row.inversions, row.correct, row.comparisons)),
                )
                for row in report.rows
            ),
        ),
    ]
    if report.silent:
        silent = ", ".join(map(markdown, report.silent))
        lines += ["", f"No preferred direction, cannot be audited: {silent}."]
    return "\n".join(lines) + "\n"


def _setting(report: Report | StudyReport) -> str:
    seeds = report.spec.seeds
    return (
        f"Projection {markdown(report.labels.get('projection', 'none'))}, "
        f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}."
    )


def _data(data: dict[str, str]) -> list[str]:
    lines = [f"- {markdown(name)}: {markdown(value)}" for name, value in data.items()]
    return ["## Data", "", *lines, ""]


def _covered(report: Report) -> str:
    """What the intervals cover."""
    several = len(report.spec.seeds) > 1
    return "over seeds and examples" if several else "over examples, not over training runs"


def _warnings(report: Report | StudyReport) -> list[str]:
    lines = [f"- {markdown(warning.text)}" for warning in report.warnings]
    return ["## Warnings", "", *lines, ""] if lines else []


def _verdicts(report: Report) -> list[str]:
    """The verdicts in words, the ranking, and the evidence of every family."""
    from ..results.judgement.family_wording import STATUS_IN_WORDS, row_in_words, sees_in_words, yardsticks
    from ..results.judgement.headings import answered
    from ..results.judgement.wording import GRADE_WORDS, grade_in_words, percent

    lines = ["## Verdict", ""] if report.verdicts else []
    for asked, v in answered(report.verdicts, report.unit):
        said = f"**{markdown(asked)} {grade_in_words(v).capitalize()}.**"
        lines += [f"{said} {markdown(v.sentence)}", ""]
    if report.ranking:
        rows = [
            (
                one.explanation,
                percent(one.share),
                f"[{percent(one.low)}, {percent(one.high)}]",
                GRADE_WORDS[one.grade],
                str(one.group),
                "–" if one.passes is None else f"{one.passes:.0f}",
                "yes" if one.signed else "no",
            )
            for one in report.ranking
        ]
        head = ["explanation", "share", "95 % interval", "grade", "group", "passes", "signed"]
        lines += ["## Ranking", "", *table(head, rows), ""]
    lines += ["## Other evidence", ""] if report.evidence else []
    for found in report.evidence:
        title = f"{found.explanation}, {found.family}"
        lines += [
            f"- {markdown(title)}: **{STATUS_IN_WORDS[found.status]}**, {markdown(found.clause.text)}",
            "",
        ]
        lines += [
            f"    - {markdown(row_in_words(row))} (this test {sees_in_words(row.sees, report.unit)})"
            for row in found.rows
        ]
        lines += [f"    - {markdown(line)}" for line in yardsticks(report, found)]
        lines += [""]
    return lines


def _names(s: Summary) -> tuple[str, ...]:
    return s.title, s.explanation or "", s.reference or ""


def _numbers(s: Summary, baselines: Sequence[str]) -> tuple[str, ...]:
    of_baselines = (format_number(s.baselines.get(name)) for name in baselines)
    return (
        format_number(s.mean),
        str(s.interval or "–"),
        format_number(s.sd),
        *of_baselines,
        str(s.n),
        str(s.undefined),
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    body = ([markdown(cell) for cell in row] for row in rows)
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *body)]
