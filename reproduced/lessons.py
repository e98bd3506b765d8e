"""What a reader learns from all the results together: lessons.md with the numbers of the stored results.

{{EXPERIMENT / ROW / COLUMN}} is replaced by what was measured there. {{EXPERIMENT: CLAIM = STATUS}}, where
CLAIM is how a claim starts, is replaced by its status, and an error if it is another one, so that no
sentence outlives its result. {{shares}} is the table of graded shares next to the older measures.
"""

from __future__ import annotations

import re
from pathlib import Path

from attnx.views.terminal.reproduction import STATUS_IN_WORDS, short

from .results import Stored
from .shares import shares_table

LESSONS = Path(__file__).with_name("lessons.md")
PLACE = re.compile(r"\{\{(.+?)\}\}", re.DOTALL)


class StaleLesson(ValueError):
    """A sentence says what the stored results do not."""


def lessons(stored: Stored, text: str | None = None) -> str:
    """The lessons, with the numbers of the stored results."""
    source = LESSONS.read_text(encoding="utf-8") if text is None else text
    return PLACE.sub(lambda place: _filled(" ".join(place[1].split()), stored), source)


def _filled(place: str, stored: Stored) -> str:
    if place == "shares":
        return shares_table(stored)
    said = re.fullmatch(r"([\w-]+): (.+) = ([\w ]+)", place)
    if said:
        return _status(stored, *said.groups())
    parts = place.split(" / ")
    found = stored.value(*parts) if len(parts) == 3 else None
    if found is None or found.mean is None:
        raise StaleLesson(f"'{place}' of lessons.md was not measured")
    half = "" if found.high is None or found.low is None else f" ±{short((found.high - found.low) / 2, 2)}"
    return f"{short(found.mean, 2)}{half}"


def _status(stored: Stored, experiment: str, start: str, expected: str) -> str:
    found = stored.found.get(experiment)
    for claim in found.claims if found else ():
        if claim.says.startswith(start):
            status = STATUS_IN_WORDS[claim.status]
            if status != expected:
                raise StaleLesson(f"'{start}' of {experiment} is {status}, lessons.md says {expected}")
            return status
    raise StaleLesson(f"'{start}' is not a claim of {experiment} that was tested")
