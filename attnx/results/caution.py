"""The warnings of a report."""

from __future__ import annotations

from typing import Literal

from .provenance import Record

CautionKind = Literal[
    "notice",
    "not-better-than-constant",
    "no-attention",
    "explained-class",
    "untrained",
    "same-model",
    "not-retrained",
    "one-seed",
    "two-seeds",
    "cut-off",
    "signed-scores",
    "constant-scores",
    "unlikely-inputs",
    "undefined-values",
    "unknown-words",
    "copies-in-test",
    "copies-of-train",
    "one-label",
]


class Caution(Record):
    """Something a reader must know before trusting a number."""

    kind: CautionKind
    about: tuple[str, ...] = ()  # the explanations, measures, labels or seeds that it names
    text: str

    def __str__(self) -> str:
        return self.text
