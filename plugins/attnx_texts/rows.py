"""What every reader gives: labelled texts one by one, with the place where a person finds each."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from attnx.plugin import DataError

MISSING = ("nan", "none", "null")  # what programs write for a label that is not there
HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled text of a file."""

    index: int  # among the texts of the file, from 0: ids are made of it
    line: int  # of the file, from 1: where the text begins
    text: str | tuple[str, ...]  # a tuple is words already
    label: str
    rationale: Any = None  # as the file has it, checked once the words are known
    query: str | tuple[str, ...] | None = None  # a second text that the label depends on
    id: str = ""  # that the file gives it, if any


def check_label(label: str, where: str) -> str:
    """A label that is a name; what programs write for a missing one is refused."""
    if label.lower() in MISSING:
        raise DataError(
            f"{where}: label '{label}' stands for a missing one; remove the row, or rename the class if it "
            "is one."
        )
    return label


def check_characters(row: Row, origin: str) -> None:
    """Refuse half a character (a lone surrogate), which JSON and Python can hold but no file can."""
    for what, value in (("text", row.text), ("label", row.label), ("query", row.query), ("id", row.id)):
        for part in (value,) if isinstance(value, str) else value or ():
            if HALF.search(part):
                raise DataError(
                    f"'{origin}', line {row.line}: the {what} holds half a character (a lone surrogate); "
                    "write all of it."
                )


# A generator, so that whoever stops reading can close the file behind it.
RowStream = Generator[Row, None, None]


@dataclass(frozen=True, slots=True)
class Rows:
    """The texts of one file, or of one folder, read as they are asked for."""

    origin: str  # the file, as messages call it
    rows: RowStream
    tokenised: bool = False  # words are separated by spaces already
    content: str = "the rows"  # what this is of the dataset, for the report
    shares: tuple[int, int, int] = (80, 10, 10)  # % of train, dev and test, where this is all there is
