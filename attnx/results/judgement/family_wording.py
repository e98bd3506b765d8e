"""Evidence by family in words, and the numbers of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..formatting import format_number, interval_of, measure_name
from .records import Clause, FamilyEvidence, Status, UnitName, VerdictRow
from .wording import percent

if TYPE_CHECKING:  # importing torch to list runs would take seconds
    from ...types import Family
    from ..report import Report

STATUS_IN_WORDS: Final[dict[Status, str]] = {
    "supported": "above random",
    "contradicted": "below random",
    "chance": "about random",
    "unknown": "unclear",
}

# What each family shows about an explanation, by status. {units} is "words" in tasks of text.
FAMILY_CLAUSES: Final[dict[Family, dict[Status, str]]] = {
    "erasure": {
        "supported": "removing its top {units}, or keeping only them, is better than random by at least one "
        "of these measures",
        "contradicted": "removing its top {units}, or keeping only them, is worse than random by at least "
        "one of these measures",
        "chance": "removing its top {units}, or keeping only them, is about as good as random",
        "unknown": "these measures do not distinguish it from random scores",
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
    "randomisation": {
        "supported": "it changes with the model or with the class, unlike random scores",
        "contradicted": "it changes with the model or with the class less than random scores do",
        "chance": "it changes with the model or with the class no more than random scores, which ignore both",
        "unknown": "whether it changes with the model and with the class is unclear",
    },
    "robustness": {
        "supported": "it changes less than random scores do when the input changes very little",
        "contradicted": "it changes when the input changes very little; random scores ignore the input. "
        "A faithful explanation may change too",
        "chance": "it hardly changes when the input changes very little, as a wrong explanation may too",
        "unknown": "how much it changes when the input changes very little is unclear",
    },
    "ground-truth": {
        "supported": "it finds the marked {units} more often than random scores do",
        "contradicted": "it finds the marked {units} less often than random scores do",
        "chance": "it finds the marked {units} about as often as random scores do",
        "unknown": "whether it finds the marked {units} is unclear",
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
DISAGREE: Final = "these measures contradict each other"
UNTRUSTED: Final = "none of these metrics counts: they often prefer a wrong explanation"
EXCLUDED: Final = "does not count: it often prefers a wrong explanation"

SEES: Final[dict[str, str]] = {
    "units": "removes {units} and runs the model again",
    "hidden states": "looks at hidden states, not at {units}",
    "attention layer": "changes attention weights only",
    "scores": "uses only the scores",
    "explanations": "explains again and compares the two explanations",
    "rationale": "uses the {units} that are marked as important",
}


def family_clause(
    family: Family, status: Status, rows: Sequence[VerdictRow], unit: UnitName, *, own: bool = True
) -> Clause:
    """What a family of evidence shows, without numbers; it names only the references that bear it out.

    `own`: the explanation is the attention of the model itself.
    """
    trusted = [row for row in rows if row.trusted]
    if status in ("supported", "contradicted"):
        trusted = [row for row in trusted if row.status == status]
    references = tuple(dict.fromkeys(row.reference for row in trusted if row.reference))
    if not trusted:
        return Clause(kind="family", text=UNTRUSTED)
    if status == "unknown" and {"supported", "contradicted"} <= {row.status for row in trusted}:
        return Clause(kind="family", references=references, text=DISAGREE)
    joined = " and ".join(references) or "other methods"
    texts = FAMILY_CLAUSES[family] if own or family != "intervention" else POINTED_AT
    text = texts[status].format(unit=unit, units=f"{unit}s", references=joined)
    return Clause(kind="family", references=references, text=text)


def sees_in_words(sees: str, unit: UnitName) -> str:
    """What a test does, and so what it can see."""
    return SEES[sees].format(units=f"{unit}s")


def row_in_words(row: VerdictRow) -> str:
    """The numbers of a row: the measure, the same of random scores, and their difference."""
    name = measure_name(row.metric, row.measure)
    reference = f" with {row.reference}" if row.reference else ""
    aside = "" if row.trusted else f"; {EXCLUDED}"
    if row.difference is None:
        return f"{name}{reference} has no value to compare{aside}"
    interval = interval_of(row.low, row.high) or "without an interval, which takes more than one value"
    return (
        f"{name}{reference} {format_number(row.mean)}, random {format_number(row.random)}, "
        f"difference {_signed(row.difference)} {interval}{aside}"
    )


def yardsticks(report: Report, evidence: FamilyEvidence) -> list[str]:
    """How much the references agree with each other, and how faithful each is by itself."""
    if evidence.family != "agreement":
        return []
    shown = {(row.metric, row.measure) for row in evidence.rows if row.reference}
    lines = [
        f"for comparison: {s.explanation} with {s.reference}: {measure_name(s.metric, s.measure)} {s.shown}"
        for s in report.summaries
        if s.yardstick and s.predicted is None and (s.metric, s.measure) in shown
    ]
    references = dict.fromkeys(row.reference for row in evidence.rows if row.reference)
    own = [one for one in report.ranking if one.explanation in references and one.share is not None]
    if own:
        said = ", ".join(f"{one.explanation} {percent(one.share)}" for one in own)
        lines.append(f"faithfulness of the references themselves: {said}")
    return lines


def _signed(value: float) -> str:
    return f"+{format_number(value)}" if value > 0 else format_number(value)
