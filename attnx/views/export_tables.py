"""The tables of results that people put into papers: measures, ranking, differences, findings, cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, Literal, get_args

from ..errors import UsageError, did_you_mean
from ..results.audit import AuditReport
from ..results.comparison import Comparison
from ..results.formatting import interval_of
from ..results.judgement.wording import GRADE_WORDS
from ..results.planting.report import PlantedReport
from ..results.report import Report
from ..results.reproduction import Reproduction
from ..results.result import Result
from ..results.study import StudyReport
from ..results.sweep import SweepReport
from .export_checks import audited, recovered, reproduced
from .printed_table import Cell, Share, Shares, Table

What = Literal["measures", "ranking"]
WHATS: Final = get_args(What)


def table_of(
    result: Result, what: What | None, metrics: Collection[str] = (), explanations: Collection[str] = ()
) -> Table:
    """The table that is asked for, with the chosen metrics and explanations, by default all."""
    match result:
        case Report():
            return (_ranking if what == "ranking" else _measures)(result, metrics, explanations)
        case Comparison():
            return (_shares if what == "ranking" else _differences)(result, metrics, explanations)
        case SweepReport():
            return (_values if what == "measures" else _cells)(result, metrics, explanations)
        case StudyReport() if what != "ranking" and not explanations:
            return _findings(result, metrics)
        case AuditReport() if what != "ranking" and not explanations:
            return audited(result, _chosen(metrics, [row.name for row in result.rows], "metric"))
        case PlantedReport() if not metrics:
            return recovered(
                result, _chosen(explanations, [row.explanation for row in result.rows], "explanation")
            )
        case Reproduction() if what != "ranking" and not explanations:
            return reproduced(result, _chosen(metrics, [value.column for value in result.values], "column"))
    raise UsageError(
        f"A {type(result).__name__} has no {what or 'table'} to export by these choices. Runs, comparisons "
        "and sweeps have measures and a ranking; studies, audits and reproductions have measures; a test "
        "with a planted trigger has a ranking."
    )


def _chosen(asked: Collection[str], known: Collection[str], what: str) -> set[str]:
    """The names that are kept: those asked for, each of which must be there; by default all."""
    for name in asked:
        if name not in known:
            listed = ", ".join(dict.fromkeys(known)) or "none"
            raise UsageError(
                f"No {what} '{name}' in this table.{did_you_mean(name, known)} It has: {listed}."
            )
    return set(asked or known)


def _kept(
    rows: Sequence[Any], metrics: Collection[str], explanations: Collection[str], model: str = ""
) -> list[Any]:
    """The rows of the chosen metrics and explanations; a row of the model itself is kept with `model`."""
    wanted = _chosen(metrics, [row.metric for row in rows], "metric")
    shown = _chosen(explanations, [row.explanation or model for row in rows], "explanation")
    return [row for row in rows if row.metric in wanted and (row.explanation or model) in shown]


def _on(labels: dict[str, str]) -> str:
    projection = f" with {labels['projection']}" if labels.get("projection") else ""
    return f"{labels['model']} on {labels['task']}{projection}"


def _measures(report: Report, metrics: Collection[str], explanations: Collection[str]) -> Table:
    kept = _kept(report.summaries, metrics, explanations, "the model")
    rows = [s for s in kept if s.predicted is None]
    compared, names = any(s.reference for s in rows), report.baseline_names
    head = ["Measure", *(["Reference"] if compared else []), "Mean", "95 % interval", *names, "n"]
    blocks = dict.fromkeys(s.explanation for s in rows)
    body: list[tuple[Cell, ...]] = []
    for explanation in blocks:
        if len(blocks) > 1:
            body.append((explanation or "the model",))
        for s in rows:
            if s.explanation == explanation:
                words = (s.title, s.reference or "") if compared else (s.title,)
                body.append((*words, s.mean, s.interval, *(s.baselines.get(name) for name in names), s.n))
    covered = "seeds and examples" if len(report.spec.seeds) > 1 else "examples"
    of_baselines = f", and the means of {' and '.join(names)} scores" if names else ""
    return Table(
        f"{_on(report.labels)}: means with 95 % intervals over {covered}{of_baselines}. ↑ higher is better, "
        "↓ lower is better; n counts examples.",
        report.fingerprint or "run",
        tuple(head),
        tuple(body),
        tuple(
            s.model_dump(exclude={"seeds", "baselines", "predicted"})
            | {"group": s.group}
            | {name: s.baselines.get(name) for name in names}
            for s in kept
        ),
    )


def _ranking(report: Report, metrics: Collection[str], explanations: Collection[str]) -> Table:
    _chosen(metrics, ["faithfulness"], "metric")
    shown = _chosen(explanations, [one.explanation for one in report.ranking], "explanation")
    rows = [one for one in report.ranking if one.explanation in shown]
    if not rows:
        raise UsageError("Nothing was ranked in this run: evaluate it with the metric faithfulness.")
    return Table(
        f"Faithfulness of the explanations of {_on(report.labels)}: share of the way from random "
        f"{report.unit}s (0 %) to the best order found (100 %), with its 95 % interval. Passes: inputs that "
        "the model processes to explain one example.",
        f"{report.fingerprint or 'run'}-ranking",
        ("Explanation", "Share", "95 % interval", "Grade", "Passes", "Signs"),
        tuple(
            (
                *(one.explanation, Share(one.share), Shares(one.low, one.high), GRADE_WORDS[one.grade]),
                *(None if one.passes is None else round(one.passes), "yes" if one.signed else "no"),
            )
            for one in rows
        ),
        tuple(one.model_dump() for one in rows),
    )


def _differences(comparison: Comparison, metrics: Collection[str], explanations: Collection[str]) -> Table:
    rows = _kept(comparison.rows, metrics, explanations, "the model")
    several = len(comparison.runs) > 2
    head = (*(["Run"] if several else []), "Measure", "Explanation", "Reference", "A", "B", "B − A")
    who = "; ".join(f"{run.letter}: {run.title}" for run in comparison.runs)
    return Table(
        f"Differences from A on the same {comparison.examples} examples, with 95 % intervals; p is corrected "
        f"for all {comparison.tested} tests (Holm), the intervals are not. {who}.",
        "comparison",
        (*head, "95 % interval", "p", "Outcome"),
        tuple(
            (
                *((row.run,) if several else ()),
                *(row.title, row.explanation or "the model", row.reference or ""),
                *(row.first, row.other, row.difference, row.interval, row.chance, row.outcome),
            )
            for row in rows
        ),
        tuple(row.model_dump() for row in rows),
    )


def _shares(comparison: Comparison, metrics: Collection[str], explanations: Collection[str]) -> Table:
    _chosen(metrics, ["faithfulness"], "metric")
    shown = _chosen(explanations, [one.explanation for one in comparison.shares], "explanation")
    rows = [one for one in comparison.shares if one.explanation in shown]
    who = "; ".join(f"{run.letter}: {run.title}" for run in comparison.runs)
    return Table(
        f"Faithfulness by run: share of the way from random (0 %) to the best order found (100 %). {who}.",
        "comparison-ranking",
        ("Run", "Explanation", "Share", "95 % interval", "Grade"),
        tuple(
            (one.run, one.explanation, Share(one.share), Shares(one.low, one.high), GRADE_WORDS[one.grade])
            for one in rows
        ),
        tuple(one.model_dump() for one in rows),
    )


def _cells(report: SweepReport, metrics: Collection[str], explanations: Collection[str]) -> Table:
    _chosen(metrics, ["faithfulness"], "metric")
    shown = _chosen(explanations, [row.explanation for row in report.rows], "explanation")
    rows = [row for row in report.ranked if row.explanation in shown]
    return Table(
        "Faithfulness by combination: share of the way from random (0 %) to the best order found (100 %), "
        "with its 95 % interval; the most faithful of each task first.",
        "sweep-ranking",
        ("Combination", "Explanation", "Accuracy", "Share", "95 % interval", "Grade"),
        tuple(
            (
                *(report.apart(row) or row.task, row.explanation, row.accuracy, Share(row.share)),
                *(Shares(row.share_low, row.share_high), GRADE_WORDS[row.faithfulness or "unknown"]),
            )
            for row in rows
        ),
        tuple(
            {name: getattr(row, name) for name in ("task", "model", "projection", "explanation", "run")}
            | row.model_dump(include={"accuracy", "faithfulness", "share", "share_low", "share_high"})
            for row in rows
        ),
    )


def _values(report: SweepReport, metrics: Collection[str], explanations: Collection[str]) -> Table:
    names = _chosen(metrics, list(report.measures), "metric")
    shown = _chosen(explanations, [row.explanation for row in report.rows], "explanation")
    found = [
        (row, name, title, value)
        for name, title in report.measures.items()
        for row in report.rows
        if name in names and row.explanation in shown and (value := row.values.get(name))
    ]
    return Table(
        "Measures by combination: means with 95 % intervals, and the mean of random scores.",
        "sweep-measures",
        ("Measure", "Combination", "Explanation", "Mean", "95 % interval", "random"),
        tuple(
            (
                *(title, report.apart(row) or row.task, row.explanation),
                *(value.mean, interval_of(value.low, value.high), value.random),
            )
            for row, _, title, value in found
        ),
        tuple(
            {"measure": name, **{part: getattr(row, part) for part in ("task", "model", "projection")}}
            | {"explanation": row.explanation, "run": row.run, **value.model_dump()}
            for row, name, _, value in found
        ),
    )


def _findings(report: StudyReport, metrics: Collection[str]) -> Table:
    names = _chosen(metrics, [finding.measure for finding in report.findings], "measure")
    rows = [finding for finding in report.findings if finding.measure in names]
    published = any(finding.published is not None for finding in rows)
    return Table(
        f"{report.study.label}: {_on(report.labels)}; means with 95 % intervals.",
        report.study.name,
        ("Setting", "Measure", "Mean", "95 % interval", *(["Published"] if published else [])),
        tuple((f.setting, f.title, f.mean, f.interval, *((f.published,) if published else ())) for f in rows),
        tuple(finding.model_dump(exclude={"seeds"}) for finding in rows),
    )
