"""From measures to a verdict: one rule for every explanation, docs/verdict.md in words."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...types import Order, Question, TestSetting
from ..formatting import measure_name
from ..observations import SeedResult
from .constant_answer import UselessModel
from .families import TRUSTED, tested_measures
from .grades import grade_of, needed_for, side_of
from .ranking import ranking_of
from .records import Clause, Grade, Heading, Ranked, RemovalShare, SignTest, UnitName, Verdict
from .removal_test import QUESTIONS, RemovalTest, removal_tests
from .shares import Share, mean_over_texts, share_of
from .wording import Wording

RELEVANT: Final = 0.1  # of the whole range: a question with less has nothing to show
FAILED: Final = 0.1  # of its own range: a question whose interval stays below is not answered well
MANY_SEEDS: Final = 5  # training runs that say something about others


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts of a run, and its explanations in order."""

    verdicts: tuple[Verdict, ...]
    ranking: tuple[Ranked, ...]


@dataclass(frozen=True, slots=True)
class About:
    """What is known about the explanations of a run apart from measures."""

    own: str  # the explanation that rows of the model itself are about
    random: str  # the baseline
    unit: UnitName = "word"
    inversions: Mapping[str, float] = field(default_factory=dict)  # by metric, in the audit
    useless: UselessModel | None = None  # why the model is not worth explaining, if it is not
    passes: Mapping[str, float] = field(default_factory=dict)  # of one explanation, by method
    signed: Mapping[str, bool] = field(default_factory=dict)  # some scores are negative
    classless: Collection[str] = ()  # methods whose scores are the same for every class
    repairs: Mapping[str, Sequence[str]] = field(default_factory=dict)  # methods that mend another
    marked: bool = False  # units of some examples are marked as important
    unchanged: Mapping[str, float] = field(default_factory=dict)  # similarity after a reset, if too high


def judge(results: Sequence[SeedResult], explanations: Sequence[str], about: About) -> Judged:
    """The verdicts on every explanation under every heading, and the ranking of all of them."""
    tests = removal_tests(results)
    ranking: tuple[Ranked, ...] = ()
    if tests and not about.useless:
        ranking = ranking_of(tests[0], about.passes, about.signed, about.classless)
    words = Wording(about.unit)
    verdicts: list[Verdict] = []
    for name in explanations:
        verdicts.append(_faithfulness(tests, name, ranking, about, words, len(results)))
        verdicts.append(_interpretability(results, name, about, words))
    return Judged(tuple(verdicts), ranking)


def _no_verdict(heading: Heading, name: str, useless: UselessModel) -> Verdict:
    clause = Clause(kind="no-verdict", text=useless.text)
    return Verdict(
        heading=heading,
        explanation=name,
        grade="unknown",
        share=None,
        share_low=None,
        share_high=None,
        clauses=(clause,),
    )


def _faithfulness(
    tests: Sequence[RemovalTest],
    name: str,
    ranking: Sequence[Ranked],
    about: About,
    words: Wording,
    seeds: int,
) -> Verdict:
    if about.useless:
        return _no_verdict("faithfulness", name, about.useless)
    if not tests or name not in tests[0].columns:
        return _untested("faithfulness", name, words.no_removal_test(), seeds)
    leading = tests[0]
    share = leading.share(name)
    removals = tuple(_removal(test, name, leads=test is leading) for test in tests)
    failed = _failed_questions(leading, name)
    opposite = _opposite_settings(leading, name, share)
    grade = _final_grade(share, failed, opposite)
    seed_shares = leading.seed_shares(name)
    agreeing = sum(side_of(value) == side_of(share.value) for value in seed_shares if not math.isnan(value))
    others = _other_runs(seed_shares)
    signs = _signs(leading, name)
    worst = float(leading.worst - np.nanmean(leading.random)) / max(1e-12, float(np.nanmean(leading.range)))
    verdict = Verdict(
        heading="faithfulness",
        explanation=name,
        grade=grade,
        share=share.value,
        share_low=share.low,
        share_high=share.high,
        worst=worst if share.known else None,
        seeds=seeds,
        agreeing_seeds=agreeing,
        other_runs_low=others[0],
        other_runs_high=others[1],
        removals=removals,
        signs=signs,
        needed=needed_for(share) if grade == "unknown" and share.known and not opposite else None,
        clauses=(),
    )
    clauses = words.faithfulness(verdict, ranking, failed, opposite, about.repairs.get(name, ()))
    clauses += words.unchanged(about.unchanged.get(name))
    return verdict.model_copy(update={"clauses": clauses})


def _untested(heading: Heading, name: str, clause: Clause, seeds: int) -> Verdict:
    return Verdict(
        heading=heading,
        explanation=name,
        grade="unknown",
        share=None,
        share_low=None,
        share_high=None,
        seeds=seeds,
        clauses=(clause,),
    )


def _final_grade(share: Share, failed: Sequence[Question], opposite: Sequence[TestSetting]) -> Grade:
    """Both questions are needed for more than weak, and the sign must hold in every part of the test."""
    grade = grade_of(share)
    if opposite and grade in ("weak", "partial", "good", "strong"):
        return "unknown"
    return "weak" if failed and grade in ("partial", "good", "strong") else grade


def _removal(test: RemovalTest, name: str, *, leads: bool) -> RemovalShare:
    share = test.share(name)
    orders: dict[Order, str | None] = {"explanation": name, "random": None}
    means = {
        (order, question): float(np.nanmean(test.question(of, order, question)))
        for order, of in orders.items()
        for question in QUESTIONS
    }
    parts = {
        question: share_of(test.question_gain(name, question), test.question_range(question)).value
        for question in QUESTIONS
    }
    return RemovalShare(
        removal=test.removal,
        leads=leads,
        disturbance=test.disturbance,
        relative_disturbance=test.relative_disturbance if np.isfinite(test.relative_disturbance) else None,
        share=share.value,
        low=share.low,
        high=share.high,
        texts=share.texts,
        comprehensiveness=means["explanation", "comprehensiveness"],
        comprehensiveness_random=means["random", "comprehensiveness"],
        comprehensiveness_share=parts["comprehensiveness"],
        sufficiency=means["explanation", "sufficiency"],
        sufficiency_random=means["random", "sufficiency"],
        sufficiency_share=parts["sufficiency"],
    )


def _failed_questions(test: RemovalTest, name: str) -> tuple[Question, ...]:
    """The questions that matter for this model and on which the explanation is hardly above random."""
    whole = float(np.nanmean(test.range))
    failed: list[Question] = []
    for question in QUESTIONS:
        range_ = test.question_range(question)
        share = share_of(test.question_gain(name, question), range_)
        if share.known and float(np.nanmean(range_)) >= RELEVANT * whole and share.high < FAILED:
            failed.append(question)
    return tuple(failed)


def _opposite_settings(test: RemovalTest, name: str, share: Share) -> tuple[TestSetting, ...]:
    """The parts of the test whose gain is beyond noise on the other side of random than the whole."""
    side = side_of(share.value) if share.known else 0
    found = {setting: mean_over_texts(gain) for setting, gain in test.settings(name).items()}
    return tuple(
        setting for setting, (low, high) in found.items() if (side > 0 and high < 0) or (side < 0 and low > 0)
    )


def _other_runs(seed_shares: Sequence[float]) -> tuple[float | None, float | None]:
    """The interval of the mean share over training runs; only five or more say something about others."""
    known = np.array([value for value in seed_shares if not math.isnan(value)])
    if len(known) < MANY_SEEDS:
        return None, None
    low, high = mean_over_texts(known[None])
    return low, high


def _signs(test: RemovalTest, name: str) -> SignTest | None:
    found = test.signed(name)
    if found is None:
        return None
    whole, sizes = found
    return SignTest(
        share=whole.value,
        low=whole.low,
        high=whole.high,
        sizes=sizes.value,
        sizes_low=sizes.low,
        sizes_high=sizes.high,
    )


def _interpretability(results: Sequence[SeedResult], name: str, about: About, words: Wording) -> Verdict:
    """From marked units alone: the share of the way from random scores to a perfect explanation."""
    if about.useless:
        return _no_verdict("interpretability", name, about.useless)
    tested = [
        t
        for t in tested_measures(results, name, about.own, about.random)
        if t.family == "ground-truth" and about.inversions.get(t.metric, 0.0) <= TRUSTED
    ]
    if not tested:
        clause = words.marks_not_used() if about.marked else words.no_marked_units()
        return _untested("interpretability", name, clause, len(results))
    t = tested[0]
    gain, range_ = t.sign * (t.values - t.random), t.sign * (t.best - t.random)
    share = share_of(gain, range_)
    seed_shares = [share_of(gain[s : s + 1], range_[s : s + 1]).value for s in range(len(gain))]
    others = _other_runs(seed_shares)
    grade = grade_of(share)
    verdict = Verdict(
        heading="interpretability",
        explanation=name,
        grade=grade,
        share=share.value,
        share_low=share.low,
        share_high=share.high,
        seeds=len(seed_shares),
        agreeing_seeds=sum(side_of(s) == side_of(share.value) for s in seed_shares if not math.isnan(s)),
        other_runs_low=others[0],
        other_runs_high=others[1],
        measure=f"{measure_name(t.metric, t.measure)}",
        needed=needed_for(share) if grade == "unknown" and share.known else None,
        clauses=(),
    )
    return verdict.model_copy(update={"clauses": words.interpretability(verdict)})
