"""The title of a page in words: the question, and the answer with its number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...results.formatting import format_number
from ...results.judgement.wording import GRADE_WORDS, grade_in_words, percent

if TYPE_CHECKING:
    from ...results.audit import AuditReport
    from ...results.comparison import Comparison
    from ...results.explanation import Explanation
    from ...results.judgement.records import Ranked, Verdict
    from ...results.planting.report import PlantedReport
    from ...results.report import Report
    from ...results.reproduction import Reproduction
    from ...results.study import StudyReport
    from ...results.sweep import SweepReport

MOST_FINDINGS = 4  # in a title


@dataclass(frozen=True, slots=True)
class Headline:
    """What a page asks and answers; `said` is the grade or status whose tone the answer has."""

    question: str
    answer: str
    said: str = "unknown"

    def __str__(self) -> str:
        return f"{self.question} {self.answer}"


def of_run(report: Report) -> Headline:
    """How faithful the explanations of a run are, and which one to use."""
    asked = [v for v in report.verdicts if v.heading == "faithfulness"]
    if not asked:
        return Headline("What does the model do?", "No explanation was measured.")
    names = listed([v.explanation for v in asked])
    question = f"How faithful {'is' if len(asked) == 1 else 'are'} {names}?"
    best = next((one for one in report.ranking if one.recommended), None)
    if not asked[0].judged:
        return Headline(question, "No verdict: the model does not clearly beat always predicting one label.")
    if len(asked) == 1:
        return Headline(question, f"{_answer(asked[0], report.unit)}{_use(asked, best)}", asked[0].grade)
    answers = [
        f"{v.explanation}: {grade_in_words(v)}" + (f", {percent(v.share)}" if v.share is not None else "")
        for v in asked
    ]
    said = asked[0].grade if len({v.grade for v in asked}) == 1 else "unknown"
    return Headline(question, f"{sentence('; '.join(answers))}.{_use(asked, best)}", said)


def _answer(v: Verdict, unit: str) -> str:
    words = grade_in_words(v).capitalize()
    if v.share is None:
        return f"{words}."
    return f"{words}: {percent(v.share)} of the way from random {unit}s to the best order found."


def _use(asked: Sequence[Verdict], best: Ranked | None) -> str:
    if best is None:
        return ""
    mine = any(v.explanation == best.explanation for v in asked)
    if mine:
        return " It is the one to use." if len(asked) == 1 else f" Use {best.explanation}."
    return f" Use {best.explanation}: {percent(best.share)}."


def of_comparison(comparison: Comparison) -> Headline:
    """How many measures differ."""
    of_one = len({run.run for run in comparison.runs}) == 1
    what = f"{len(comparison.runs)} {'explanations' if of_one else 'runs'}"
    differ, rows = len(comparison.significant), len(comparison.rows)
    answer = f"{differ} of {rows} measures differ significantly." if rows else "They share no measure."
    best = comparison.shares[0] if comparison.shares else None
    if best is not None and best.share is not None:
        answer += f" The most faithful: {best.explanation} of {best.run}, {percent(best.share)}."
    return Headline(f"How do {what} differ?", answer)


def of_sweep(report: SweepReport) -> Headline:
    """Which combination has the most faithful explanation."""
    cells = len({row.run for row in report.rows})
    question = f"Which of {cells} combinations has the most faithful explanation?"
    ranked = [row for row in report.rows if row.share is not None]
    if cells < 2:
        question = "How faithful are the explanations of one combination?" if cells else "No cell was run."
    if not ranked:
        return Headline(question, "No verdict." if report.rows else "Nothing was measured.")
    best = max(ranked, key=lambda row: row.share or 0.0)
    grade = best.faithfulness or "unknown"
    where = report.apart(best)
    answer = (
        f"{best.explanation}{f' of {where}' if where else ''}: {GRADE_WORDS[grade]}, {percent(best.share)}."
    )
    return Headline(question, sentence(answer), grade)


def of_reproduction(found: Reproduction) -> Headline:
    """How many claims of a paper hold."""
    question = f"Which claims hold here? {found.source}"
    if not found.tested:
        return Headline(question, "No claim was tested.")
    counts = Counter(claim.status for claim in found.tested)
    total = len(found.tested)
    parts = [f"{counts['holds']} of {total} claim{'s' * (total != 1)} hold{'s' * (counts['holds'] == 1)}"]
    if counts["does not hold"]:
        parts.append(f"{counts['does not hold']} do{'es' * (counts['does not hold'] == 1)} not")
    if counts["open"]:
        parts.append(f"{counts['open']} inconclusive")
    if counts["undertrained"]:
        parts.append(f"{counts['undertrained']} undertrained")
    status = next(iter(counts)) if len(counts) == 1 else "unknown"
    return Headline(question, f"{', '.join(parts)}.", status)


def of_audit(report: AuditReport) -> Headline:
    """How many metrics never preferred a wrong explanation."""
    rows = [row for row in report.rows if row.headline and row.comparisons]
    never = sum(row.inversions == 0 for row in rows)
    return Headline(
        "How often does each metric prefer a wrong explanation, where the right one is known?",
        f"{never} of {len(rows)} metrics never did.",
    )


def of_planted(report: PlantedReport) -> Headline:
    """Which explanations find the trigger, next to random scores."""
    question = "Which explanations find what the model is known to use?"
    if not report.rows:
        return Headline(question, "No statement: the model does not use the planted trigger.")
    shown = [f"{row.explanation} {percent(row.found)}" for row in report.rows[:MOST_FINDINGS]]
    left = len(report.rows) - len(shown)
    rest = f" and {left} more" if left else ""
    chance = f"random scores {percent(report.chance)}"
    return Headline(
        question, f"Texts in which the planted trigger is found: {', '.join(shown)}{rest}; {chance}."
    )


def of_study(report: StudyReport, summary: str) -> Headline:
    """What a study asks, and what it found in its first settings by its first measure."""
    question = summary or f"What does the study {report.study.label} find?"
    known = [finding for finding in report.findings if finding.mean is not None]
    if not known:
        return Headline(question, "Nothing was found.")
    same = [finding for finding in known if finding.measure == known[0].measure]
    said = ", ".join(f"{finding.setting} {format_number(finding.mean)}" for finding in same[:MOST_FINDINGS])
    rest = f" and {len(same) - MOST_FINDINGS} more" if len(same) > MOST_FINDINGS else ""
    return Headline(question, f"{sentence(known[0].title)}: {said}{rest}.")


def of_explanation(explanation: Explanation) -> Headline:
    """Why the model predicts what it does, by the word whose removal changes most."""
    said = f"answer “{explanation.predicted}”" if explanation.answer else f"predict {explanation.predicted}"
    question = f"Why does the model {said}?"
    p = explanation.probabilities[explanation.predicted]
    about_it = explanation.target == explanation.predicted and not explanation.versus
    changes = {out: out.change for out in explanation.left_out if out.change is not None}
    if not changes or not about_it:
        return Headline(question, f"Its probability is {format_number(p)}.")
    most = min(changes, key=lambda out: changes[out])
    if changes[most] >= 0:
        tried = f"removing a single top {explanation.unit} does not lower it"
        return Headline(question, f"Its probability is {format_number(p)}; {tried}.")
    without = f"Without “{most.unit}”, its probability falls from {format_number(p)} to"
    return Headline(question, f"{without} {format_number(most.probability)}.")


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def sentence(text: str) -> str:
    """The text with a capital."""
    return text[:1].upper() + text[1:]
