"""A verdict in words. Every clause is true where its predicate in `predicates` holds, and only there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..formatting import format_number, interval_of, measure_name
from .grades import side_of
from .records import (
    Clause,
    ClauseKind,
    FamilyEvidence,
    Grade,
    Heading,
    Ranked,
    RemovalShare,
    Status,
    UnitName,
    Verdict,
    VerdictRow,
)

if TYPE_CHECKING:  # importing torch to list runs would take seconds
    from ...types import Family, Question, TestSetting
    from ..report import Report

GRADE_WORDS: Final[dict[Grade, str]] = {
    "misleading": "misleading",
    "random": "no better than random",
    "weak": "weak",
    "partial": "partial",
    "good": "good",
    "strong": "strong",
    "unknown": "cannot tell",
}
STATUS_IN_WORDS: Final[dict[Status, str]] = {
    "supported": "above random",
    "contradicted": "below random",
    "chance": "about random",
    "unknown": "unclear",
}
REMOVING: Final[dict[str, str]] = {
    "delete": "deleting {units}",
    "replace": "replacing {units} by {units} of other texts",
}
QUESTION_WORDS: Final[dict[str, str]] = {
    "comprehensiveness": "removing its top {units} hardly matters more than removing random ones, so they "
    "are not all that the prediction rests on",
    "sufficiency": "keeping only its top {units} is hardly better than keeping random ones, so they are not "
    "enough for the prediction",
}
SETTING_WORDS: Final[dict[str, str]] = {
    "small sets": "when few {units} are removed or kept",
    "large sets": "when many {units} are removed or kept",
    "first draws": "with some of the replacements",
    "last draws": "with some of the replacements",
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
UNTRUSTED: Final = "none of these metrics is reliable: too many errors in the audit"
EXCLUDED: Final = "too many errors in the audit"

SEES: Final[dict[str, str]] = {
    "units": "removes {units} and runs the model again",
    "hidden states": "looks at hidden states, not at {units}",
    "attention layer": "changes attention weights only",
    "scores": "uses only the scores",
    "rationale": "uses the {units} that are marked as important",
}

# The question that a heading answers.
QUESTIONS: Final[dict[Heading, str]] = {
    "faithfulness": "How faithful is {explanation}?",
    "interpretability": "Does {explanation} point at the marked {units}?",
}
NOT_TESTED: Final = "not tested"


@dataclass(frozen=True, slots=True)
class Wording:
    """Makes the clauses of verdicts in the words of a task."""

    unit: UnitName

    @property
    def units(self) -> str:
        """The plural."""
        return f"{self.unit}s"

    def _clause(self, kind: ClauseKind, text: str, *references: str) -> Clause:
        return Clause(kind=kind, text=text.replace("{units}", self.units), references=references)

    def no_removal_test(self) -> Clause:
        """That nothing in the run decides about faithfulness, and what would."""
        return self._clause(
            "not-tested",
            "the metrics of this run cannot decide: run it with --metric faithfulness, or without --metric",
        )

    def no_marked_units(self) -> Clause:
        """That nothing says which units matter."""
        return self._clause(
            "not-tested",
            "no {units} of this task are marked as important; a task with planted {units}, e.g. "
            "--task planted-pronouns, or marked ones (jsonl-rationales) would test it",
        )

    def faithfulness(
        self,
        v: Verdict,
        ranking: Sequence[Ranked],
        failed: Sequence[Question],
        opposite: Sequence[TestSetting],
        repairs: Sequence[str],
    ) -> tuple[Clause, ...]:
        """What the removal test shows, what limits it, and what to use."""
        leading = v.removals[0]
        if v.share is None or v.share_low is None:
            return (self._nothing_to_rank(leading),)
        clauses = [self._grade(v, leading)]
        if len(failed) == 1 and (v.share_low or 0.0) > 0:
            clauses.append(self._clause("one-question", QUESTION_WORDS[failed[0]]))
        if opposite:
            when = " and ".join(dict.fromkeys(SETTING_WORDS[setting] for setting in opposite))
            clauses.append(
                self._clause("settings-differ", f"it depends on the test: {when} the sign is the opposite")
            )
        if v.needed is not None:
            clauses.append(self._clause("too-few", f"about {_rounded(v.needed)} texts would decide"))
        clauses += self._removals(v)
        clauses += self._seeds(v)
        clauses += self._signs(v)
        clauses += self._class(v, ranking)
        clauses += self._repairs(v, ranking, repairs)
        clauses += self._use(v, ranking)
        return tuple(clauses)

    def _nothing_to_rank(self, leading: RemovalShare) -> Clause:
        if leading.texts < 10:
            return self._clause("nothing-to-rank", f"{leading.texts} texts are too few for a verdict")
        return self._clause(
            "nothing-to-rank",
            "removing {units} in the best order found changes the output no more than in a random order, so "
            "there is nothing to rank",
        )

    def _grade(self, v: Verdict, leading: RemovalShare) -> Clause:
        return self._clause(
            "grade",
            f"it gets {percent(v.share)} [{percent(v.share_low)}, {percent(v.share_high)}] of the way from "
            f"random {{units}} to the best order found, {REMOVING[leading.removal]}",
        )

    def _removals(self, v: Verdict) -> list[Clause]:
        """Whether the other way of removing units says the same."""
        leading, *others = v.removals
        found = []
        for other in others:
            if other.share is None or other.low is None:
                continue
            way = REMOVING[other.removal]
            if v.share is not None and same_answer(leading, other):
                found.append(self._clause("removals-agree", f"{way} says the same ({percent(other.share)})"))
                continue
            found.append(
                self._clause(
                    "removals-differ",
                    f"it depends on how {{units}} are removed: {way} gives {percent(other.share)} "
                    f"[{percent(other.low)}, {percent(other.high)}]. "
                    f"{REMOVING[leading.removal].capitalize()} is trusted more, because removing random "
                    f"{{units}} that way moves the output less "
                    f"({format_number(leading.disturbance)} against {format_number(other.disturbance)})",
                )
            )
        return found

    def _seeds(self, v: Verdict) -> list[Clause]:
        if v.seeds < 2:
            return []
        clauses = [self._clause("seeds-agree", f"{v.agreeing_seeds} of {v.seeds} training runs agree")]
        if v.other_runs_low is not None:
            clauses.append(
                self._clause(
                    "other-runs",
                    "over training runs like these the mean share is between "
                    f"{percent(v.other_runs_low)} and {percent(v.other_runs_high)}",
                )
            )
        return clauses

    def _signs(self, v: Verdict) -> list[Clause]:
        if v.signs is None or v.signs.share is None or v.signs.sizes_low is None:
            return []
        sizes = (
            f"its sizes add {percent(v.signs.sizes)} of what is left above random sizes with these signs"
            if v.signs.sizes_low > 0
            else "random sizes with these signs do as well"
        )
        return [
            self._clause(
                "no-sign",
                f"its scores do not say whether a {self.unit} speaks for or against the prediction; with the "
                f"signs of leave-one-out it gets {percent(v.signs.share)} of the way, and {sizes}",
            )
        ]

    def _class(self, v: Verdict, ranking: Sequence[Ranked]) -> list[Clause]:
        mine = next((one for one in ranking if one.explanation == v.explanation), None)
        if mine is None or mine.depends_on_class:
            return []
        return [self._clause("no-class", "it is the same whichever class is asked about")]

    def _repairs(self, v: Verdict, ranking: Sequence[Ranked], repairs: Sequence[str]) -> list[Clause]:
        """Which methods that are made of this explanation do better, where it is not good."""
        if v.grade in ("good", "strong"):
            return []
        mine = next((one for one in ranking if one.explanation == v.explanation), None)
        better = [
            one
            for one in ranking
            if one.explanation in repairs
            and mine is not None
            and one.group < mine.group
            and one.share is not None
        ]
        if not better:
            return []
        said = ", ".join(f"{one.explanation} gets {percent(one.share)}" for one in better)
        return [self._clause("repair", f"what helps: {said}", *(one.explanation for one in better))]

    def _use(self, v: Verdict, ranking: Sequence[Ranked]) -> list[Clause]:
        best = next((one for one in ranking if one.recommended), None)
        if best is None:
            return [self._clause("use", "none of the explanations tested here is better than random")]
        cost = _passes(best.passes)
        numbers = f"{percent(best.share)} [{percent(best.low)}, {percent(best.high)}], {cost}"
        if best.explanation == v.explanation:
            alone = "it is the only one tested here"
            why = "no explanation tested here is better beyond noise" if len(ranking) > 1 else alone
            return [self._clause("use", f"use it: {why}", best.explanation)]
        mine = next((one for one in ranking if one.explanation == v.explanation), None)
        close = mine is not None and (mine.group == best.group or (mine.share or 0) >= (best.share or 0))
        extra = ", which is cheaper and practically as good" if close else ""
        return [self._clause("use", f"use {best.explanation} ({numbers}){extra}", best.explanation)]

    def unchanged(self, similarity: float | None) -> tuple[Clause, ...]:
        """That scores stay the same when the parameters of the model are reset."""
        if similarity is None:
            return ()
        return (
            self._clause(
                "not-of-this-model",
                f"its scores hardly change when the model's parameters are reset (rank correlation "
                f"{similarity:.2f}), so they describe the texts rather than this model",
            ),
        )

    def interpretability(self, v: Verdict) -> tuple[Clause, ...]:
        """How often the explanation finds the marked units."""
        if v.share is None or v.share_low is None:
            return (self._clause("nothing-to-rank", "too few texts have marked {units}"),)
        clauses = [
            self._clause(
                "grade",
                f"it gets {percent(v.share)} [{percent(v.share_low)}, {percent(v.share_high)}] of the way "
                f"from random scores to a perfect explanation ({v.measure})",
            )
        ]
        if v.needed is not None:
            clauses.append(self._clause("too-few", f"about {_rounded(v.needed)} texts would decide"))
        return (*clauses, *self._seeds(v))


def same_answer(one: RemovalShare, other: RemovalShare) -> bool:
    """Whether two removals put an explanation on the same side of random, as far as their intervals say."""
    return _side(one) == _side(other)


def _side(found: RemovalShare) -> int:
    if found.share is None or found.low is None or found.high is None:
        return 0
    return side_of(found.share) if found.low > 0 or found.high < 0 else 0


def percent(share: float | None) -> str:
    """A share as people read it."""
    return "–" if share is None else f"{100 * share:.0f} %".replace("-", "−")


def _passes(count: float | None) -> str:
    """What one explanation costs."""
    if not count:
        return "no extra pass"
    return f"{count:.0f} pass{'es' * (round(count) != 1)} through the model"


def _rounded(count: int) -> str:
    """A number of texts to two digits."""
    digits = max(0, len(str(count)) - 2)
    return str(-(-count // 10**digits) * 10**digits)


def question(verdict: Verdict, unit: UnitName = "word") -> str:
    """The question that a heading answers about an explanation."""
    return QUESTIONS[verdict.heading].format(explanation=verdict.explanation, units=f"{unit}s")


def grade_in_words(verdict: Verdict) -> str:
    """The answer in one or a few words."""
    if not verdict.judged:
        return "no verdict"
    if any(clause.kind == "not-tested" for clause in verdict.clauses):
        return NOT_TESTED
    return GRADE_WORDS[verdict.grade]


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
