"""What a verdict is made of: grades, shares, clauses in words, and the rows of numbers behind them."""

from __future__ import annotations

from typing import Final, Literal

from ..formatting import Number
from ..provenance import Record

Heading = Literal["faithfulness", "interpretability"]
Status = Literal["supported", "contradicted", "chance", "unknown"]
UnitName = Literal["word", "sentence", "paragraph", "unit"]  # what a reader calls a unit of the task
Grade = Literal["misleading", "random", "weak", "partial", "good", "strong", "unknown"]

# From the worst grade to the best; unknown has no place.
GRADES: Final[tuple[Grade, ...]] = ("misleading", "random", "weak", "partial", "good", "strong")

ClauseKind = Literal[
    # of a heading
    "no-verdict",  # the model is not worth explaining
    "grade",  # how far the explanation gets, and between what
    "not-tested",  # nothing in this run can answer
    "marks-not-used",  # units are marked, and no metric of this run looks at them
    "nothing-to-rank",  # no order of units is better than a random one
    "too-few",  # the interval is too wide
    "one-question",  # only one of comprehensiveness and sufficiency is better than random
    "removals-agree",
    "removals-apart",  # on the same side of random, by other shares
    "removals-differ",
    "settings-differ",  # a part of the test has the opposite sign
    "no-class",  # its scores are the same whichever class is asked about
    "no-sign",  # what its sizes are worth with the signs of leave-one-out
    "not-of-this-model",  # its scores do not change when the parameters are reset
    "seeds-agree",
    "other-runs",  # what it says of other training runs
    "repair",  # what helps
    "use",  # which explanation to use
    # of a family of evidence
    "family",
]


class Clause(Record):
    """One statement about an explanation; `predicates` says when it is true."""

    kind: ClauseKind
    text: str
    references: tuple[str, ...] = ()  # the explanations that the text names


class VerdictRow(Record):
    """One measure of an explanation compared with the same measure of random scores."""

    metric: str
    measure: str
    reference: str | None
    sees: str  # what the test can see
    mean: Number
    random: Number  # the same measure of random scores
    difference: Number  # paired, on the same examples
    low: Number  # 95 % interval of the difference
    high: Number
    n: int
    status: Status
    trusted: bool  # False: the metric makes too many errors in the audit


class FamilyEvidence(Record):
    """What one family of metrics shows about an explanation; it is reported and decides nothing."""

    heading: Heading
    family: str
    explanation: str
    status: Status
    clause: Clause
    rows: tuple[VerdictRow, ...]


class RemovalShare(Record):
    """What one way of removing units says about an explanation."""

    removal: Literal["delete", "replace"]
    leads: bool  # it answers, because its relative disturbance is smaller
    disturbance: Number  # how far removing random units moves the output
    relative_disturbance: Number  # the same relative to how far the best order moves it
    share: Number  # of the way from random to best
    low: Number
    high: Number
    texts: int
    comprehensiveness: Number
    comprehensiveness_random: Number
    comprehensiveness_share: Number  # of the way from random to the best found, of this question alone
    sufficiency: Number
    sufficiency_random: Number
    sufficiency_share: Number


class SignTest(Record):
    """An explanation without signs, tested with the signs of leave-one-out."""

    share: Number  # of the way from random to best that its sizes get with these signs
    low: Number
    high: Number
    sizes: Number  # of the way from random sizes with the same signs to best
    sizes_low: Number
    sizes_high: Number


class Verdict(Record):
    """The answer about one explanation under one heading."""

    heading: Heading
    explanation: str
    grade: Grade
    share: Number  # of the way from random to best; for interpretability to perfect
    share_low: Number
    share_high: Number
    worst: Number = None  # the share of the worst order found, below 0
    seeds: int = 1
    agreeing_seeds: int = 0  # training seeds whose own share is on the same side of random
    other_runs_low: Number = None  # interval of the mean share over other training runs, from five seeds on
    other_runs_high: Number = None
    removals: tuple[RemovalShare, ...] = ()  # the leading one first
    signs: SignTest | None = None
    measure: str | None = None  # of interpretability: the metric that answers
    needed: int | None = None  # about how many texts would decide, where the grade is unknown
    clauses: tuple[Clause, ...]  # the answer in words

    @property
    def judged(self) -> bool:
        """False where there is no verdict because the model is not worth explaining."""
        return not any(clause.kind == "no-verdict" for clause in self.clauses)

    @property
    def sentence(self) -> str:
        """All clauses, as sentences."""
        return " ".join(f"{clause.text[:1].upper()}{clause.text[1:]}." for clause in self.clauses)

    @property
    def reason(self) -> str:
        """The same as `sentence`."""
        return self.sentence

    def __str__(self) -> str:
        from .wording import grade_in_words

        return f"{self.explanation}, {self.heading}: {grade_in_words(self)}. {self.sentence}"

    def _repr_html_(self) -> str:
        """The verdict for a notebook."""
        from ..rendering import notebook_of

        return notebook_of(self)


class Ranked(Record):
    """One explanation in the ranking of a run."""

    explanation: str
    grade: Grade
    share: Number
    low: Number
    high: Number
    passes: Number  # inputs that the model must process to explain one example
    signed: bool  # some of its scores are negative
    depends_on_class: bool  # scores are about the predicted class; otherwise the same for every class
    group: int  # 1 is the best; the first of a group differs beyond noise from everything above it
    as_good: bool = True  # does not differ from the best beyond noise
    recommended: bool = False


class Ranking(tuple[Ranked, ...]):
    """Explanations, the most faithful first: a tuple that a notebook shows as a ruler."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """The ruler for a notebook."""
        from ..rendering import notebook_of

        return notebook_of(self)
