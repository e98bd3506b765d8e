"""The report of a test with a planted trigger."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Literal

from ..caution import Caution
from ..formatting import Number
from ..judgement.records import Grade
from ..judgement.wording import percent
from ..provenance import PluginUsed, Record
from ..result import Result
from ..selection import NoSuchRow

TriggerKind = Literal["single", "paired", "ordered"]

FOLLOWS: Final = 0.9  # of the texts: as the trigger says, and as the other one says once it is swapped
LOST: Final = 0.7  # of the texts: the same answer without the trigger, or with one of two words, at most
FEWEST: Final = 10  # texts in which the trigger is known to decide


class PlantedTrigger(Record):
    """One trigger: its words, and the run in which explanations had to find it."""

    number: int
    words: dict[str, tuple[str, ...]]  # by label
    said: str  # how it was planted, and how many texts were left out
    run: str | None = (
        None  # the ordinary evaluation of the same models; None: no model uses it, or not stored
    )


class TriggerCheck(Record):
    """Whether the model of one trigger and one training seed uses the trigger, on held-out texts."""

    trigger: int
    seed: int
    texts: int  # held-out texts, each with a trigger that speaks against its own label
    own_accuracy: float  # on the same texts without a trigger, with the labels of the file
    followed: float  # share of texts that are answered as the trigger says
    swapped: float  # and as the other label's trigger says, once it is in its place
    without: float  # share of texts with the same answer once the trigger is deleted
    alone: tuple[float, ...] = ()  # and with one of the two words: the first, the second
    counted: int  # texts in which the trigger alone is known to decide: recovery is measured on these
    verified: bool

    @property
    def reasons(self) -> list[str]:
        """What is missing, each with its number; empty if the model uses the trigger."""
        said = []
        for share, what in (
            (self.followed, "are answered as the trigger says"),
            (self.swapped, "are answered as the swapped trigger says"),
        ):
            if share < FOLLOWS:
                said.append(f"{percent(share)} of {self.texts} texts {what} (needed: {percent(FOLLOWS)})")
        for share, what in (
            (self.without, "without the trigger"),
            *zip(self.alone, ("with its first word alone", "with its second word alone"), strict=False),
        ):
            if share > LOST:
                said.append(f"{percent(share)} have the same answer {what} (allowed: {percent(LOST)})")
        if self.counted < FEWEST and not said:
            said.append(f"the trigger alone decides in {self.counted} texts (needed: {FEWEST})")
        return said


class Recovery(Record):
    """How often one explanation finds the trigger, next to what the ordinary removal test finds."""

    explanation: str
    found: Number  # share of texts in which the trigger words have the highest scores
    low: Number  # 95 % interval
    high: Number
    average_precision: Number
    average_precision_low: Number
    average_precision_high: Number
    texts: int  # pairs of a text and a model
    share: Number = None  # of the removal test on the same models: from random to best
    share_low: Number = None  # its 95 % interval; with several triggers, the lowest and the highest share
    share_high: Number = None
    grades: tuple[Grade, ...] = ()  # by trigger, each once


class PlantedExample(Record):
    """A text in which the trigger decides, with the scores of every explanation."""

    id: str
    trigger: int
    seed: int
    units: tuple[str, ...]
    marked: tuple[int, ...]  # places of the trigger words
    label: str  # of the trigger, and the model's answer
    own_label: str  # of the text in the file
    scores: dict[str, tuple[Number, ...]]  # by explanation
    found: dict[str, bool]  # whether the trigger words have the highest scores


class PlantedReport(Result):
    """Which explanations find a trigger that the model is known to use."""

    file_stem: ClassVar[str] = "planted"

    task: str
    model: str
    kind: TriggerKind
    share: float  # of the training texts in which the trigger decides the label
    seeds: tuple[int, ...]
    triggers: tuple[PlantedTrigger, ...]
    checks: tuple[TriggerCheck, ...]  # of every trigger and seed
    chance: Number  # what random scores would find, on the same texts
    rows: tuple[Recovery, ...]  # the best first; none if no model uses its trigger
    examples: tuple[PlantedExample, ...]
    data: dict[str, str]
    plugins: tuple[PluginUsed, ...]
    environment: dict[str, str]
    warnings: tuple[Caution, ...] = ()
    seconds: float

    @property
    def verified(self) -> bool:
        """Whether at least one model uses its trigger, so that there is something to report."""
        return any(check.verified for check in self.checks)

    @property
    def sentence(self) -> str:
        """The answer, or why there is none and what to try."""
        if not self.rows:
            return self._refusal
        best, *others = self.rows
        said = f"{best.explanation} finds the planted trigger in {percent(best.found)} of texts"
        said += "".join(f", {row.explanation} in {percent(row.found)}" for row in others)
        return f"On this model and these texts, {said}; random scores would in {percent(self.chance)}."

    @property
    def verification(self) -> str:
        """How many models use their trigger, and in how many texts it is known to decide."""
        used = [check for check in self.checks if check.verified]
        counted, texts = (sum(getattr(one, name) for one in used) for name in ("counted", "texts"))
        models = f"{len(self.checks)} model{'s' * (len(self.checks) > 1)}"
        said = f"{len(used)} of {models} verifiably use{'s' * (len(used) == 1)} the trigger"
        return f"{said}; it alone decides in {counted} of {texts} held-out texts." if used else f"{said}."

    @property
    def _refusal(self) -> str:
        closest = max(self.checks, key=lambda check: (check.followed + check.swapped, -check.without))
        room = self.share < (1.0 if self.kind == "single" else 0.3)  # two words leave room for a third
        larger = f"a larger share (--share, now {self.share:g}), " if room else ""
        return (
            f"No statement about explanations: the model does not use the planted trigger. "
            f"{'; '.join(closest.reasons)}. Next: {larger}more training (--train epochs=...), more texts, or "
            "another kind of trigger (--kind)."
        )

    def select(self, explanation: str) -> Recovery:
        """The row of one explanation."""
        for row in self.rows:
            if row.explanation == explanation:
                return row
        known = ", ".join(row.explanation for row in self.rows) or "none: no model uses the trigger"
        raise NoSuchRow(f"No explanation '{explanation}' in this report; it has {known}.")

    def records(self) -> list[dict[str, Any]]:
        """The explanations, one row each; if no model uses the trigger, the checks of the models."""
        return [row.model_dump() for row in self.rows or self.checks]

    def __repr__(self) -> str:
        if not self.rows:
            return f"<PlantedReport {self.task} · {self.model}: no model uses the {self.kind} trigger>"
        shown = ", ".join(f"{row.explanation} {percent(row.found)}" for row in self.rows[:4])
        more = f" and {len(self.rows) - 4} more" if len(self.rows) > 4 else ""
        names = f"{self.task[:60]} · {self.model[:60]}"
        return f"<PlantedReport {names}: {self.kind} trigger found by {shown}{more}>"
