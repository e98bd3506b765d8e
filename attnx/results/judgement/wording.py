"""A verdict in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..formatting import format_number, interval_of, measure_name
from .records import Clause, Heading, Status, UnitName, Verdict, VerdictRow

if TYPE_CHECKING:  # importing torch to list runs would take seconds
    from ...types import Family
    from ..report import Report

STATUS_IN_WORDS: Final[dict[Status, str]] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "chance": "no better than chance",
    "unknown": "cannot tell",
}

# What each family shows about an explanation, by status. {units} is "words" in tasks of text.
CLAUSES: Final[dict[Family, dict[Status, str]]] = {
    "erasure": {
        "supported": "the {units} it ranks highest affect the output more than random {units} do",
        "contradicted": "the {units} it ranks highest affect the output less than random {units} do",
        "chance": "the {units} it ranks highest affect the output about as much as random {units} do",
        "unknown": "deleting {units} does not distinguish it from random scores",
    },
    "intervention": {
        "supported": "changing these weights affects the output more than changing random ones",
        "contradicted": "changing these weights affects the output less than changing random ones",
        "chance": "changing these weights affects the output about as much as changing random ones",
        "unknown": "changing attention weights gives no clear answer",
    },
    "agreement": {
        "supported": "it ranks {units} more like {references} than random scores do",
        "contradicted": "it ranks {units} less like {references} than random scores do",
        "chance": "it agrees with {references} about as much as random scores do",
        "unknown": "its agreement with {references} gives no clear answer",
    },
    "information": {
        "supported": "its ranking follows the information in hidden states more than a random one does",
        "contradicted": "its ranking follows the information in hidden states less than a random one does",
        "chance": "its ranking follows the information in hidden states about as much as a random one does",
        "unknown": "the information in hidden states gives no clear answer",
    },
    "ground-truth": {
        "supported": "it finds the {units} that are known to matter more often than random scores do",
        "contradicted": "it finds the {units} that are known to matter less often than random scores do",
        "chance": "it finds the {units} that are known to matter about as often as random scores do",
        "unknown": "whether it finds the {units} that are known to matter is unclear",
    },
    "context": {
        "supported": "each hidden state depends on few {units}",
        "contradicted": "each hidden state mixes most {units}, so a weight on a position is not a weight on "
        "its {unit}",
        "chance": "each hidden state depends neither on few {units} nor on all alike",
        "unknown": "whether a hidden state still stands for its {unit} is unclear",
    },
    "shape": {
        "supported": "it concentrates on fewer {units} than random scores do",
        "contradicted": "it spreads over more {units} than random scores do",
        "chance": "it is about as spread out as random scores",
        "unknown": "how few {units} it singles out is unclear",
    },
    "retraining": {
        "supported": "retraining supports it",
        "contradicted": "retraining contradicts it",
        "chance": "in retraining it does no better than chance",
        "unknown": "retraining gives no clear answer",
    },
}
# An intervention on scores that are not the model's attention changes attention where those scores point.
POINTED_AT: Final[dict[Status, str]] = {
    "supported": "changing attention on the {units} it ranks highest affects the output more than changing "
    "it on random {units}",
    "contradicted": "changing attention on the {units} it ranks highest affects the output less than "
    "changing it on random {units}",
    "chance": "changing attention on the {units} it ranks highest affects the output about as much as "
    "changing it on random {units}",
    "unknown": "changing attention weights gives no clear answer",
}
NO_VERDICT: Final = "no verdict, because the model does not clearly beat always predicting one label"
DISAGREE: Final = "its metrics contradict each other"
UNTRUSTED: Final = "none of its metrics is reliable enough to decide: too many errors in the audit"
EXCLUDED: Final = "reported, excluded from the verdict: too many errors in the audit"

SEES: Final[dict[str, str]] = {
    "units": "deletes {units} and runs the model again",
    "hidden states": "looks at hidden states, not at {units}",
    "attention layer": "changes attention weights only",
    "scores": "uses only the scores",
    "rationale": "uses the {units} that are known to matter",
}

# The question that a heading answers.
QUESTIONS: Final[dict[Heading, str]] = {
    "faithfulness": "How faithful is {explanation}?",
    "interpretability": "Is {explanation} readable?",
}


def question(verdict: Verdict) -> str:
    """The question that a heading answers about an explanation."""
    return QUESTIONS[verdict.heading].format(explanation=verdict.explanation)


def grade(verdict: Verdict) -> str:
    """The answer in one or a few words."""
    return STATUS_IN_WORDS[verdict.status].capitalize() if verdict.judged else "No verdict"


def evidence(verdict: Verdict, verdicts: Sequence[Verdict]) -> str:
    """What a heading rests on: its clauses, with the first number that decided."""
    row = _deciding(verdict, verdicts)
    return verdict.sentence(f" ({row_in_words(row)})" if row else "")


def _deciding(heading: Verdict, verdicts: Sequence[Verdict]) -> VerdictRow | None:
    """The first row of the leading family that has the status of the heading."""
    wanted = (heading.explanation, heading.heading, heading.clauses[0].family)
    leading = [v for v in verdicts if v.family and (v.explanation, v.heading, v.family) == wanted]
    rows = [row for v in leading for row in v.rows if row.decides and row.status == heading.status]
    return rows[0] if rows else None


def yardsticks(report: Report) -> list[str]:
    """How much the references agree with each other: what an agreement can be compared with."""
    shown = {(row.metric, row.measure) for v in report.verdicts for row in v.rows if row.reference}
    return [
        f"for comparison: {s.explanation} with {s.reference}: {measure_name(s.metric, s.measure)} {s.shown}"
        for s in report.summaries
        if s.yardstick and s.predicted is None and (s.metric, s.measure) in shown
    ]


def clause(
    family: Family, status: Status, rows: Sequence[VerdictRow], unit: UnitName, *, own: bool = True
) -> Clause:
    """What a family of evidence shows, without numbers; it names only the references that bear it out.

    `own`: the explanation is the attention of the model itself.
    """
    deciding = [row for row in rows if row.decides]
    if status in ("supported", "contradicted"):
        deciding = [row for row in deciding if row.status == status]
    references = tuple(dict.fromkeys(row.reference for row in deciding if row.reference))
    if not deciding:
        return Clause(family=family, status=status, text=UNTRUSTED)
    if status == "unknown" and {"supported", "contradicted"} <= {row.status for row in deciding}:
        return Clause(family=family, status=status, references=references, text=DISAGREE)
    joined = " and ".join(references) or "other methods"
    texts = CLAUSES[family] if own or family != "intervention" else POINTED_AT
    text = texts[status].format(unit=unit, units=f"{unit}s", references=joined)
    return Clause(family=family, status=status, references=references, text=text)


def sees_in_words(sees: str, unit: UnitName) -> str:
    """What a test does, and so what it can see."""
    return SEES[sees].format(units=f"{unit}s")


def row_in_words(row: VerdictRow) -> str:
    """The numbers of a row: the measure, the same of random scores, and their difference."""
    name = measure_name(row.metric, row.measure)
    reference = f" with {row.reference}" if row.reference else ""
    aside = "" if row.decides else f"; {EXCLUDED}"
    if row.difference is None:
        return f"{name}{reference} has no value to compare{aside}"
    interval = interval_of(row.low, row.high) or "without an interval, which takes more than one value"
    return (
        f"{name}{reference} {format_number(row.mean)}, {row.against} {format_number(row.random)}, "
        f"difference {_signed(row.difference)} {interval}{aside}"
    )


def _signed(value: float) -> str:
    return f"+{format_number(value)}" if value > 0 else format_number(value)
