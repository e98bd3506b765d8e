"""The report as a Markdown page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..escaping import markdown
from ..results.formatting import format_number

if TYPE_CHECKING:
    from ..results.report import Report, Summary
    from ..results.study import StudyReport


def page(report: Report) -> str:
    """Everything a reader needs to judge the run; curves and code hashes are in the JSON alone."""
    names = report.baseline_names
    rows = [s for s in report.summaries if s.group == "all"]
    by_class = [s for s in report.summaries if s.group != "all" and s.n]
    lines = [
        f"# {markdown(report.labels['task'])}, {markdown(report.labels['model'])}",
        "",
        f"{f'Run `{report.fingerprint}`. ' if report.fingerprint else ''}"
        f"Projection {markdown(report.labels.get('projection', 'none'))}, "
        f"seeds {', '.join(map(str, report.spec.seeds))}.",
        "",
        *_warnings(report),
        *_verdicts(report),
        "## Data",
        "",
        *(f"- {markdown(name)}: {markdown(said)}" for name, said in report.provenance.data.items()),
        "",
        "## Model quality on the test split",
        "",
        *_table(
            ("seed", "accuracy", "macro F1", "ROC-AUC", "majority", "best epoch"),
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
        "## Measures",
        "",
        f"Mean over seeds with its 95 % interval {_covered(report)}, and standard deviation over "
        "examples, beside the same measure of random and uniform scores. n counts examples over all seeds; "
        "the undefined ones are not in the mean.",
        "",
        *_table(
            ("measure", "explanation", "reference", "mean", "interval", "sd", *names, "n", "undefined"),
            ((*_names(s), *_numbers(s, names)) for s in rows),
        ),
    ]
    if by_class:
        lines += [
            "",
            "## By class (predicted label)",
            "",
            *_table(
                ("measure", "explanation", "reference", "class", "mean", "interval", "sd", "n", "undefined"),
                ((*_names(s), s.group, *_numbers(s, ())) for s in by_class),
            ),
        ]
    return "\n".join(lines) + "\n"


def study_page(report: StudyReport) -> str:
    """A study's findings, beside what was published where something was."""
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
        f"Projection {markdown(report.labels.get('projection', 'none'))}, "
        f"seeds {', '.join(map(str, report.spec.seeds))}.",
        "",
        *_table(head, rows),
        "",
        "## Data",
        "",
        *(f"- {markdown(name)}: {markdown(said)}" for name, said in report.data.items()),
    ]
    return "\n".join(lines) + "\n"


def _covered(report: Report) -> str:
    """What the intervals speak of."""
    return "over seeds and examples" if len(report.spec.seeds) > 1 else "over examples, not over trainings"


def _warnings(report: Report) -> list[str]:
    lines = [f"- {markdown(warning)}" for warning in report.warnings]
    return ["## Warnings", "", *lines, ""] if lines else []


def _verdicts(report: Report) -> list[str]:
    """The verdict in words, headings first."""
    from ..results.wording import STATUS_IN_WORDS, answer, row_in_words, yardsticks

    lines = ["## Verdict", ""] if report.verdicts else []
    for v in report.verdicts:
        if v.family is None:
            question, said, reason = answer(v)
            lines += [f"**{markdown(question)} {said}:** {markdown(reason)}.", ""]
            continue
        said = v.reason.partition(": ")[0]
        lines += [f"- {v.family}: **{STATUS_IN_WORDS[v.status]}**, {markdown(said)}", ""]
        lines += [f"    - {markdown(row_in_words(row))} (sees: {row.sees})" for row in v.rows]
        lines += [f"    - {markdown(line)}" for line in yardsticks(report) if v.family == "agreement"]
        lines += [""]
    return lines


def _names(s: Summary) -> tuple[str, ...]:
    return s.title, s.explanation or "", s.reference or ""


def _numbers(s: Summary, baselines: Sequence[str]) -> tuple[str, ...]:
    beside = (format_number(s.baselines.get(name)) for name in baselines)
    return (
        format_number(s.mean),
        str(s.interval or "–"),
        format_number(s.sd),
        *beside,
        str(s.n),
        str(s.undefined),
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    body = ([markdown(cell) for cell in row] for row in rows)
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *body)]
