"""What the measures of a report are: one sentence, the formula and the source, as components say it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...errors import AttnxError
from ...host.cards import Kind
from ...host.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Entry:
    """A component in its own words."""

    summary: str
    definition: tuple[str, ...]  # paragraphs
    source: str


def look_up(catalog: Catalog, kind: Kind, labels: Iterable[str]) -> dict[str, Entry]:
    """The components of these labels; one that is not installed here has no entry."""
    found = {}
    for label in labels:
        try:
            component = catalog.find(kind, label.partition(":")[0])
        except AttnxError:  # an object of the user's, or of a plugin that is not here: its name stays
            continue
        paragraphs = component.definition().split("\n\n")
        found[label] = Entry(
            summary=component.summary,
            definition=tuple(filter(None, (_joined(paragraph) for paragraph in paragraphs))),
            source=component.card.citation,
        )
    return found


def _joined(paragraph: str) -> str:
    """A paragraph in one piece; one that was laid out by hand keeps its lines."""
    return paragraph.strip("\n") if "\n " in paragraph else " ".join(paragraph.split())
