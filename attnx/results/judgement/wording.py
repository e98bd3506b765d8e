"""A verdict in words. Every clause is true where its predicate in `predicates` holds, and only there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..formatting import format_number
from .grades import NEARLY
from .records import (
    Clause,
    ClauseKind,
    Grade,
    Ranked,
    RemovalShare,
    UnitName,
    Verdict,
)
from .removal_agreement import opposite, overlap

if TYPE_CHECKING:  # importing torch to list runs would take seconds
    from ...types import Question, TestSetting

GRADE_WORDS: Final[dict[Grade, str]] = {
    "misleading": "misleading",
    "random": "no better than random",
    "weak": "weak",
    "partial": "partial",
    "good": "good",
    "strong": "strong",
    "unknown": "cannot tell",
}
REMOVING: Final[dict[str, str]] = {
    "delete": "deleting {units}",
    "replace": "replacing {units} by {units} of other {texts}",
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

NOT_TESTED: Final = "not tested"
USEFUL: Final = ("weak", "partial", "good", "strong")


@dataclass(frozen=True, slots=True)
class Wording:
    """Makes the clauses of verdicts in the words of a task."""

    unit: UnitName

    @property
    def units(self) -> str:
        """The plural."""
        return f"{self.unit}s"

    def removing(self, removal: str) -> str:
        """How units are removed."""
        return REMOVING[removal].replace("{texts}", "texts" if self.unit == "word" else "examples")

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
        would = "a task with marked {units}"
        if self.unit == "word":
            would = "attnx planted, which plants words in your texts, or marked ones (jsonl-rationales)"
        return self._clause(
            "not-tested", f"no {{units}} of this task are marked as important; {would} would test it"
        )

    def marks_not_used(self) -> Clause:
        """That units are marked, and no metric of the run looks at them."""
        return self._clause(
            "marks-not-used", "the metrics of this run do not use the marked {units}: run it without --metric"
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
            f"random {{units}} to the best order found, {self.removing(leading.removal)}",
        )

    def _removals(self, v: Verdict) -> list[Clause]:
        """Whether the other way of removing units says the same."""
        leading, *others = v.removals
        found: list[Clause] = []
        for other in others:
            if other.share is None or other.low is None:
                continue
            way = self.removing(other.removal)
            numbers = f"{percent(other.share)} [{percent(other.low)}, {percent(other.high)}]"
            if opposite(leading, other):
                mine, others_ = (format_number(one.relative_disturbance) for one in (leading, other))
                found.append(
                    self._clause(
                        "removals-differ",
                        f"it depends on how {{units}} are removed: {way} gives {numbers}. "
                        f"{self.removing(leading.removal).capitalize()} is trusted more, because removing "
                        "random {units} that way moves the output less, compared with the best order "
                        f"({mine} against {others_})",
                    )
                )
            elif overlap(leading, other):
                found.append(self._clause("removals-agree", f"{way} says the same ({numbers})"))
            else:
                found.append(self._clause("removals-apart", f"{way} gives {numbers}"))
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
        says = f"its scores do not say whether a {self.unit} speaks for or against the prediction"
        if v.share is None or v.signs.share <= v.share:
            return [self._clause("no-sign", f"{says}, which costs it nothing here")]
        sizes = (
            "their sizes matter too: random sizes with these signs do worse"
            if v.signs.sizes_low > 0
            else "random sizes with these signs do as well"
        )
        with_signs = f"with the signs of leave-one-out they would get {percent(v.signs.share)} of the way"
        return [self._clause("no-sign", f"{says}; {with_signs}, and {sizes}")]

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
            and one.grade in USEFUL
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
            why = "no explanation tested here is better beyond noise"
            if not best.as_good:
                why = f"the best one tested here is less than {percent(NEARLY)} ahead and costs more"
            elif len(ranking) == 1:
                why = "it is the only one tested here"
            return [self._clause("use", f"use it: {why}", best.explanation)]
        mine = next((one for one in ranking if one.explanation == v.explanation), None)
        close = mine is not None and mine.as_good
        extra = ", which costs less and is practically as good" if close else ""
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


def percent(share: float | None) -> str:
    """A share as people read it."""
    return "–" if share is None else f"{round(100 * share) + 0} %".replace("-", "−")


def _passes(count: float | None) -> str:
    """What one explanation costs."""
    if not count:
        return "no extra pass"
    return f"{count:.0f} pass{'es' * (round(count) != 1)} through the model"


def _rounded(count: int) -> str:
    """A number of texts to two digits."""
    digits = max(0, len(str(count)) - 2)
    return str(-(-count // 10**digits) * 10**digits)


def grade_in_words(verdict: Verdict) -> str:
    """The answer in one or a few words."""
    if not verdict.judged:
        return "no verdict"
    if any(clause.kind in ("not-tested", "marks-not-used") for clause in verdict.clauses):
        return NOT_TESTED
    return GRADE_WORDS[verdict.grade]
