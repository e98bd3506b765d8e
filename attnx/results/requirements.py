"""Requirements on a report, e.g. faithfulness>=0.5: whether they are met, in words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, get_args

from ..errors import UsageError, did_you_mean
from .judgement.records import GRADES, Grade, Heading, Verdict
from .judgement.wording import GRADE_WORDS, percent
from .report import Report

HEADINGS: Final[tuple[Heading, ...]] = get_args(Heading)
_FORM: Final = re.compile(r"^(?:(?P<explanation>.+)/)?(?P<heading>[a-z]+)\s*>=\s*(?P<bound>[^\s]+)$")
HOW: Final = "write e.g. faithfulness>=0.5, faithfulness>=good or attention/faithfulness>=0.5"


@dataclass(frozen=True, slots=True)
class Requirement:
    """The least share or grade that an explanation must have."""

    text: str
    heading: Heading
    explanation: str | None  # None: every explanation that the run is about
    share: float | None
    grade: Grade | None

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read a requirement as a person types it."""
        found = _FORM.match(text.strip())
        if found is None:
            raise UsageError(f"Cannot read the requirement '{text}': {HOW}.")
        heading, bound = found["heading"], found["bound"]
        if heading not in HEADINGS:
            raise UsageError(f"Unknown heading '{heading}' in '{text}'.{did_you_mean(heading, HEADINGS)}")
        if bound in GRADES:
            return cls(text, heading, found["explanation"], None, bound)
        try:
            share = float(bound)
        except ValueError:
            raise UsageError(
                f"'{bound}' in '{text}' is neither a number nor a grade ({', '.join(GRADES)})."
            ) from None
        if not -1 <= share <= 1:
            raise UsageError(f"A share is at most 1, not {bound}: {HOW}.")
        return cls(text, heading, found["explanation"], share, None)

    def unmet(self, report: Report) -> str | None:
        """Why a report does not meet it; None where it does."""
        verdicts = [
            v
            for v in report.verdicts
            if v.heading == self.heading and self.explanation in (None, v.explanation)
        ]
        if not verdicts:
            known = ", ".join(dict.fromkeys(v.explanation for v in report.verdicts)) or "none"
            return f"no verdict on '{self.explanation}'; the run is about {known}"
        missed = [self._missed(v) for v in verdicts if not self._met(v)]
        return "; ".join(missed) or None

    def _met(self, v: Verdict) -> bool:
        if v.grade == "unknown" or v.share is None:
            return False
        if self.grade is not None:
            return GRADES.index(v.grade) >= GRADES.index(self.grade)
        return self.share is not None and v.share >= self.share

    def _missed(self, v: Verdict) -> str:
        if v.share is None:
            return f"{v.explanation} has no {v.heading} share ({v.sentence})"
        interval = f"[{percent(v.share_low)}, {percent(v.share_high)}]"
        return f"{v.explanation} has {percent(v.share)} {interval}, {GRADE_WORDS[v.grade]}"


def check_requirements(report: Report, required: tuple[Requirement, ...]) -> list[str]:
    """One line for every requirement that is not met."""
    found = ((one.text, one.unmet(report)) for one in required)
    return [f"{text} is not met: {why}" for text, why in found if why is not None]
