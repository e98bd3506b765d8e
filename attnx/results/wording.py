"""A verdict in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from .formatting import format_number, interval_of, measure_name
from .report import Heading, Report, Status, Verdict, VerdictRow

if TYPE_CHECKING:  # importing torch to list runs would take seconds
    from ..types import Family

STATUS_IN_WORDS: Final[dict[Status, str]] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "chance": "no better than chance",
    "unknown": "cannot tell",
}

# What each family says of an explanation, by status.
CLAUSES: Final[dict[Family, dict[Status, str]]] = {
    "erasure": {
        "supported": "deleting the units it ranks highest changes the output more than random ones do",
        "contradicted": "deleting the units it ranks highest changes the output less than random ones do",
        "chance": "deleting the units it ranks highest changes the output no more than random ones do",
        "unknown": "deleting units does not tell it from random scores",
    },
    "intervention": {
        "supported": "the output hangs on these weights more than on random ones",
        "contradicted": "the output hangs on these weights less than on random ones",
        "chance": "the output hangs on these weights no more than on random ones",
        "unknown": "moving attention weights gives no clear answer",
    },
    "agreement": {
        "supported": "it ranks units more like {references} than random scores do",
        "contradicted": "it ranks units against {references}",
        "chance": "it agrees with {references} no more than random scores do",
        "unknown": "its agreement with {references} gives no clear answer",
    },
    "information": {
        "supported": "the hidden states it ranks higher hold more information about the output",
        "contradicted": "the hidden states it ranks higher hold less information about the output",
        "chance": "its ranks tell nothing of the information in hidden states",
        "unknown": "information gives no clear answer",
    },
    "ground-truth": {
        "supported": "it finds the units that are known to matter more often than random scores do",
        "contradicted": "it points away from the units that are known to matter",
        "chance": "it finds the units that are known to matter no more often than random scores",
        "unknown": "whether it finds the units that are known to matter is not clear",
    },
    "context": {
        "supported": "a hidden state speaks of few units",
        "contradicted": "a hidden state speaks of most units alike, so a weight on it is none on its unit",
        "chance": "a hidden state speaks neither of few units nor of all alike",
        "unknown": "whether a hidden state still stands for its unit is not clear",
    },
    "shape": {
        "supported": "it singles out fewer units than random scores do",
        "contradicted": "it spreads over more units than random scores do",
        "chance": "it is as spread out as random scores",
        "unknown": "how few units it singles out is not clear",
    },
    "retraining": {
        "supported": "retraining bears it out",
        "contradicted": "retraining speaks against it",
        "chance": "retraining finds it no better than chance",
        "unknown": "retraining gives no clear answer",
    },
}
USELESS: Final = "nothing is judged, whatever single rows say"
NOT_JUDGED: Final = "not judged, as the model is not shown to be better than a constant answer"
SEEN: Final[dict[str, str]] = {
    "units": "sees units: everything is recomputed without them",
    "hidden states": "sees hidden states, not units",
    "attention layer": "sees the attention layer alone",
    "scores": "sees the scores alone",
    "rationale": "sees the known units",
}


# What a reader came to ask, under each heading, and the answer.
QUESTIONS: Final[dict[Heading, str]] = {
    "faithfulness": "Does {explanation} say what the model uses?",
    "interpretability": "Can a person use {explanation}?",
}
ANSWERS: Final[dict[Status, str]] = {
    "supported": "Yes, as far as these tests see",
    "contradicted": "No",
    "chance": "No better than chance",
    "unknown": "These tests cannot tell",
}


def answer(verdict: Verdict) -> tuple[str, str, str]:
    """Question, answer and reason of a heading."""
    question = QUESTIONS[verdict.heading].format(explanation=verdict.explanation)
    return question, ANSWERS[verdict.status], verdict.reason


def yardsticks(report: Report) -> list[str]:
    """How far the references agree with each other: what an agreement can be compared with."""
    shown = {(row.metric, row.measure) for v in report.verdicts for row in v.rows if row.reference}
    return [
        f"for comparison: {s.explanation} and {s.reference} agree with each other at {s.metric} "
        f"{s.measure} {s.shown}"
        for s in report.summaries
        if s.yardstick and s.group == "all" and (s.metric, s.measure) in shown
    ]


def clause(family: Family, status: Status, references: Sequence[str | None]) -> str:
    """What a family of evidence says, without numbers."""
    named = [name for name in dict.fromkeys(references) if name]
    joined = " and ".join(named) or "other methods"
    return CLAUSES[family][status].format(references=joined)


def row_in_words(row: VerdictRow) -> str:
    """The numbers behind a row: the measure, random scores beside it, and their difference."""
    name = measure_name(row.metric, row.measure)
    beside = f" with {row.reference}" if row.reference else ""
    aside = "" if row.decides else ", shown but not trusted to decide"
    if row.difference is None:
        return f"{name}{beside} has no value to compare{aside}"
    interval = interval_of(row.low, row.high) or "without an interval, which takes more than one value"
    return (
        f"{name}{beside} {format_number(row.mean)}, {row.against} {format_number(row.random)}, "
        f"difference {_signed(row.difference)} {interval}{aside}"
    )


def _signed(value: float) -> str:
    return f"+{format_number(value)}" if value > 0 else format_number(value)
