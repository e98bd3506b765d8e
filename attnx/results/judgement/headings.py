"""The questions that a report answers, with their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .records import Heading, UnitName, Verdict
from .wording import NOT_TESTED, grade_in_words

HEADINGS: Final[dict[Heading, str]] = {
    "faithfulness": "How faithful is {explanation}?",
    "interpretability": "Does {explanation} point at the marked {units}?",
}


def question(verdict: Verdict, unit: UnitName = "word", explanation: str = "") -> str:
    """The question that a verdict answers about an explanation, or about what is called so."""
    asked = HEADINGS[verdict.heading]
    return asked.format(explanation=explanation or verdict.explanation, units=f"{unit}s")


def answered(verdicts: Sequence[Verdict], unit: UnitName) -> list[tuple[str, Verdict]]:
    """Every question with its verdict.

    One that was tested for no explanation is asked once, at the end. That a model is not worth explaining
    answers all of them, and only one is asked.
    """
    if verdicts and not any(v.judged for v in verdicts):
        several = len({v.explanation for v in verdicts}) > 1
        return [(question(verdicts[0], unit, "any of them" if several else ""), verdicts[0])]
    untested: dict[str, list[Verdict]] = {}
    for v in verdicts:
        if v.heading == "interpretability" and grade_in_words(v) == NOT_TESTED:
            untested.setdefault(v.sentence, []).append(v)
    shared = [same for same in untested.values() if len(same) > 1]
    asked = [(question(v, unit), v) for v in verdicts if not any(v in same for same in shared)]
    return asked + [(question(same[0], unit, "any of them"), same[0]) for same in shared]
