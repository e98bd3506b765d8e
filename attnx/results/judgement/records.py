"""What a verdict is made of: clauses in words, and the rows of numbers behind them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ..formatting import Number
from ..provenance import Record

Heading = Literal["faithfulness", "interpretability"]
Status = Literal["supported", "contradicted", "chance", "unknown"]
UnitName = Literal["word", "unit"]  # what a reader calls a unit of the task


class Clause(Record):
    """What one family of evidence shows about an explanation, in words without numbers."""

    family: str | None  # None: it is about the model, whatever the explanation
    status: Status
    references: tuple[str, ...] = ()  # the methods that the text names
    text: str


class VerdictRow(Record):
    """One measure of an explanation compared with the same measure of random scores."""

    metric: str
    measure: str
    reference: str | None
    sees: str  # what the test can see
    mean: Number
    random: Number  # the same measure of random scores, or the measure's midpoint
    against: Literal["random", "midpoint"] = "random"  # which of the two
    difference: Number  # paired, on the same examples
    low: Number  # interval of the difference, corrected for the number of rows
    high: Number
    share: Number  # of the way from random scores to the best attainable
    n: int
    status: Status
    decides: bool  # False: the audit on known truth does not trust it enough


class Verdict(Record):
    """What the evidence shows about one explanation: one family of evidence, or a whole heading."""

    heading: Heading
    family: str | None  # None: of the heading, which follows its most trusted family
    explanation: str
    status: Status
    clauses: Annotated[
        tuple[Clause, ...], Field(min_length=1)
    ]  # of a family one; of a heading first what decides, then what disagrees
    rows: tuple[VerdictRow, ...]

    @property
    def judged(self) -> bool:
        """False where there is no verdict because the model is not worth explaining."""
        return self.clauses[0].family is not None

    @property
    def says(self) -> str:
        """The clauses as one sentence, without numbers and without a full stop."""
        return self.sentence()

    def sentence(self, number: str = "") -> str:
        """The clauses as one sentence, with a number behind the first."""
        first, *others = (clause.text for clause in self.clauses)
        return f"{first}{number}" + (f"; but {', and '.join(others)}" if others else "")

    @property
    def reason(self) -> str:
        """The clauses with the numbers of every row."""
        from .wording import row_in_words

        numbers = "; ".join(row_in_words(row) for row in self.rows)
        return f"{self.says}: {numbers}" if numbers else self.says

    def __str__(self) -> str:
        from .wording import STATUS_IN_WORDS

        of = self.family or self.heading
        return f"{self.explanation}, {of}: {STATUS_IN_WORDS[self.status]}. {self.reason}."
