"""When each clause of a verdict is true, as a predicate on the numbers of the report.

The words of a clause are made in `wording`; here the same statement is checked against the numbers, so that
no report says something that its numbers do not show.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .grades import GOOD, NEAR, PARTIAL, WEAK
from .records import Clause, ClauseKind, FamilyEvidence, Grade, Ranked, RemovalShare, Verdict
from .removal_agreement import opposite, overlap

if TYPE_CHECKING:
    from ..report import Report


@dataclass(frozen=True, slots=True)
class Said:
    """A clause, the verdict it is part of, and the report."""

    verdict: Verdict
    clause: Clause
    report: Report


Predicate = Callable[[Said], bool]


def _graded(said: Said) -> bool:
    """The grade is that of the share and its interval, or a weaker one that another clause explains."""
    if said.verdict.share is None or said.verdict.share_low is None or said.verdict.share_high is None:
        return False
    kinds = {c.kind for c in said.verdict.clauses}
    expected = _grade(said.verdict.share, said.verdict.share_low, said.verdict.share_high)
    if said.verdict.grade == expected:
        return True
    if said.verdict.grade == "unknown":
        return "settings-differ" in kinds
    return (
        said.verdict.grade == "weak" and "one-question" in kinds and expected in ("partial", "good", "strong")
    )


def _grade(share: float, low: float, high: float) -> Grade:
    if high < 0 and share <= -NEAR:
        return "misleading"
    if low > 0 and share >= NEAR:
        bounds: tuple[tuple[float, Grade], ...] = ((WEAK, "weak"), (PARTIAL, "partial"), (GOOD, "good"))
        return next((grade for bound, grade in bounds if share < bound), "strong")
    wide = low <= 0 and (high >= WEAK or low <= -WEAK)
    return "unknown" if wide else "random"


def _useless(said: Said) -> bool:
    """A warning of the report says that the model does not beat a constant answer."""
    return any(w.kind == "not-better-than-constant" for w in said.report.warnings)


def _not_tested(said: Said) -> bool:
    if said.verdict.heading == "faithfulness":
        return not said.verdict.removals and said.verdict.share is None
    return said.verdict.share is None and said.verdict.measure is None


def _nothing_to_rank(said: Said) -> bool:
    return said.verdict.share is None or said.verdict.share_low is None


def _too_few(said: Said) -> bool:
    return said.verdict.grade == "unknown" and said.verdict.needed is not None and said.verdict.needed > 0


def _one_question(said: Said) -> bool:
    leading = said.verdict.removals[0]
    shares = (leading.comprehensiveness_share, leading.sufficiency_share)
    return sum(share is not None and share < 0.1 for share in shares) == 1


def _removals_agree(said: Said) -> bool:
    leading, *others = said.verdict.removals
    return any(overlap(leading, other) for other in others)


def _removals_apart(said: Said) -> bool:
    leading, *others = said.verdict.removals
    return any(not overlap(leading, other) and not opposite(leading, other) for other in others)


def _removals_differ(said: Said) -> bool:
    leading, *others = said.verdict.removals
    trusted = all(_relative(leading) <= _relative(other) for other in others)
    return trusted and any(opposite(leading, other) for other in others)


def _relative(found: RemovalShare) -> float:
    return math.inf if found.relative_disturbance is None else found.relative_disturbance


def _settings_differ(said: Said) -> bool:
    return said.verdict.share is not None and said.verdict.grade not in ("partial", "good", "strong")


def _no_sign(said: Said) -> bool:
    mine = _ranked(said.report, said.verdict.explanation)
    return (
        said.verdict.signs is not None
        and said.verdict.signs.share is not None
        and (mine is None or not mine.signed)
    )


def _no_class(said: Said) -> bool:
    mine = _ranked(said.report, said.verdict.explanation)
    return mine is not None and not mine.depends_on_class


def _unchanged(said: Said) -> bool:
    return said.report.reset.get(said.verdict.explanation, 0.0) >= UNCHANGED


def _seeds(said: Said) -> bool:
    return said.verdict.seeds > 1 and 0 <= said.verdict.agreeing_seeds <= said.verdict.seeds


def _other_runs(said: Said) -> bool:
    return said.verdict.seeds >= 5 and said.verdict.other_runs_low is not None


def _repair(said: Said) -> bool:
    mine = _ranked(said.report, said.verdict.explanation)
    others = [_ranked(said.report, name) for name in said.clause.references]
    return mine is not None and all(
        one is not None and one.group < mine.group and one.low is not None and one.low > 0 for one in others
    )


def _use(said: Said) -> bool:
    best = next((one for one in said.report.ranking if one.recommended), None)
    if best is None:
        return not said.clause.references
    return said.clause.references == (best.explanation,) and best.grade in (
        "weak",
        "partial",
        "good",
        "strong",
    )


def _ranked(report: Report, name: str) -> Ranked | None:
    return next((one for one in report.ranking if one.explanation == name), None)


UNCHANGED: Final = 0.9  # rank correlation before and after a reset from which scores hardly changed

PREDICATES: Final[dict[ClauseKind, Predicate]] = {
    "no-verdict": _useless,
    "grade": _graded,
    "not-tested": _not_tested,
    "nothing-to-rank": _nothing_to_rank,
    "too-few": _too_few,
    "one-question": _one_question,
    "marks-not-used": _not_tested,
    "removals-agree": _removals_agree,
    "removals-apart": _removals_apart,
    "removals-differ": _removals_differ,
    "settings-differ": _settings_differ,
    "no-sign": _no_sign,
    "no-class": _no_class,
    "not-of-this-model": _unchanged,
    "seeds-agree": _seeds,
    "other-runs": _other_runs,
    "repair": _repair,
    "use": _use,
}


def family_holds(found: FamilyEvidence) -> bool:
    """Whether the clause of a family says what its rows show."""
    trusted = [row for row in found.rows if row.trusted]
    if found.status == "supported":
        named = [row for row in trusted if row.status == "supported"]
        return bool(named) and set(found.clause.references) == {
            row.reference for row in named if row.reference
        }
    if found.status == "contradicted":
        return any(row.status == "contradicted" for row in trusted)
    if found.status == "chance":
        return bool(trusted) and all(row.status == "chance" for row in trusted)
    return True


def false_clauses(report: Report) -> list[str]:
    """Every clause of a report that its numbers do not bear out; none in a report that is right."""
    found = [
        f"{v.explanation}, {v.heading}, {clause.kind}: {clause.text}"
        for v in report.verdicts
        for clause in v.clauses
        if not PREDICATES[clause.kind](Said(v, clause, report))
    ]
    found += [f"{e.explanation}, {e.family}: {e.clause.text}" for e in report.evidence if not family_holds(e)]
    return found
