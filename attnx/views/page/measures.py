"""All measures of a run in one table: a row for each measure, a column for each explanation and baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...host.catalog import Catalog
from .glossary import Entry, look_up

if TYPE_CHECKING:
    from ...results.judgement.records import Status
    from ...results.report import Report, Summary

# Title and question of every family of metrics. {units} is "words" in tasks of text.
FAMILIES: Final[dict[str, tuple[str, str]]] = {
    "erasure": ("Removing {units}", "Does the output change when {units} are removed?"),
    "intervention": ("Changing attention", "Does the output change when only attention weights change?"),
    "agreement": ("Agreement with other methods", "Do two methods rank the {units} alike?"),
    "information": (
        "Information in hidden states",
        "Do hidden states with higher weights carry more information about the output?",
    ),
    "ground-truth": ("Known {units}", "Does it find the {units} that are known to matter?"),
    "context": ("Context in hidden states", "Does a hidden state still stand for its own {unit}?"),
    "shape": ("Shape of the scores", "How few {units} get most of the score, whichever they are?"),
    "randomisation": (
        "Another model, another class",
        "Does the explanation change when the model is reset, or when another class is explained?",
    ),
    "robustness": (
        "Robustness",
        "Does the explanation stay the same when the input changes very little? It decides nothing.",
    ),
    "retraining": ("Retraining", "What do other training runs give?"),
}
THE_MODEL: Final = "the model itself"


@dataclass(frozen=True, slots=True)
class Cell:
    """One measure of one explanation, and how it compares with random scores."""

    column: str
    summary: Summary | None
    status: Status | None  # None where it was not compared


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One measure of all explanations, and of the baselines."""

    title: str
    reference: str | None
    cells: tuple[Cell, ...]
    baselines: tuple[tuple[str, float | None], ...]

    @property
    def examples(self) -> str:
        """How many examples have a value (and how many have none), of the first explanation."""
        first = next(cell.summary for cell in self.cells if cell.summary is not None)
        return f"{first.n} ({first.undefined})"


@dataclass(frozen=True, slots=True)
class FamilyRows:
    """The measures of one family."""

    name: str
    title: str
    says: str
    rows: tuple[MeasureRow, ...]


@dataclass(frozen=True, slots=True)
class MeasureTable:
    """Every measure over all examples, by class, and what the metrics are."""

    columns: tuple[str, ...]
    baselines: tuple[str, ...]
    families: tuple[FamilyRows, ...]
    by_class: tuple[Summary, ...]
    entries: dict[str, Entry]  # by metric

    @property
    def count(self) -> int:
        """How many measures it has."""
        return sum(len(family.rows) for family in self.families)


def measure_table(report: Report, catalog: Catalog) -> MeasureTable:
    """The table of a report, families in the order of `FAMILIES`."""
    whole = [s for s in report.summaries if s.predicted is None]
    columns = tuple(dict.fromkeys(s.explanation or THE_MODEL for s in whole))
    status = {
        (found.explanation, row.metric, row.measure, row.reference): row.status
        for found in report.evidence
        for row in found.rows
    }
    families = []
    for name, texts in FAMILIES.items():
        mine = [s for s in whole if s.family == name]
        if mine:
            title, says = (text.format(unit=report.unit, units=f"{report.unit}s") for text in texts)
            families.append(FamilyRows(name, title, says, _rows(report, mine, columns, status)))
    return MeasureTable(
        columns=columns,
        baselines=tuple(report.baseline_names),
        families=tuple(families),
        by_class=tuple(s for s in report.summaries if s.predicted is not None and s.n),
        entries=look_up(catalog, "metric", {s.metric: report.component_name(s.metric) for s in whole}),
    )


def _rows(
    report: Report,
    summaries: Sequence[Summary],
    columns: Sequence[str],
    status: dict[tuple[str, str, str, str | None], Status],
) -> tuple[MeasureRow, ...]:
    groups: dict[tuple[str, str, str | None], dict[str, Summary]] = {}
    for s in summaries:
        groups.setdefault((s.metric, s.measure, s.reference), {})[s.explanation or THE_MODEL] = s
    found = []
    for key, by_column in groups.items():
        first = next(iter(by_column.values()))
        cells = (Cell(name, by_column.get(name), status.get((name, *key))) for name in columns)
        baselines = tuple((name, first.baselines.get(name)) for name in report.baseline_names)
        found.append(MeasureRow(first.title, first.reference, tuple(cells), baselines))
    return tuple(found)
