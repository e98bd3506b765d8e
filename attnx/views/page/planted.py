"""The page of a test with a planted trigger."""

from __future__ import annotations

from dataclasses import dataclass

from ...results.planting.report import PlantedExample, PlantedReport, Recovery
from ..terminal.planted import CHECKED, LEGEND, check_rows, grades
from .direction import is_right_to_left
from .explanation import ColouredUnit
from .headline import of_planted
from .ruler import WIDTH, Tick
from .templating import render

OPEN_TEXTS = 2  # that are not folded


@dataclass(frozen=True, slots=True)
class ShownText:
    """One text with the scores of every explanation, ready to be coloured."""

    example: PlantedExample
    right_to_left: bool
    methods: tuple[tuple[str, bool, tuple[tuple[ColouredUnit, bool], ...]], ...]  # name, found, units marked


def planted_page(report: PlantedReport) -> str:
    """The answer, the ruler of explanations, example texts, and how the models were checked."""
    headline, random = of_planted(report), WIDTH * (report.chance or 0.0)
    return render(
        "planted.html",
        title=f"{headline} {report.task}, {report.model}",
        headline=headline,
        report=report,
        rows=[(row, _place(row), grades(row)) for row in report.rows],
        random=random,
        ticks=(Tick("random", random), Tick("every text", WIDTH)),
        checks=check_rows(report),
        alone=["first word", "second word"] if report.checks[0].alone else [],
        checked=CHECKED,
        legend=LEGEND,
        open_texts=OPEN_TEXTS,
        texts=[_shown(example, report) for example in report.examples],
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where the share of texts and the ends of its interval are on the ruler."""

    share: float
    low: float
    high: float


def _place(row: Recovery) -> Place:
    return Place(*(WIDTH * (value or 0.0) for value in (row.found, row.low, row.high)))


def _shown(example: PlantedExample, report: PlantedReport) -> ShownText:
    return ShownText(
        example,
        is_right_to_left(example.units),
        tuple(
            (row.explanation, example.found[row.explanation], _coloured(example, row.explanation))
            for row in report.rows
            if row.explanation in example.scores
        ),
    )


def _coloured(example: PlantedExample, method: str) -> tuple[tuple[ColouredUnit, bool], ...]:
    scores = example.scores[method]
    largest = max((abs(score) for score in scores if score is not None), default=0.0) or 1.0
    return tuple(
        (ColouredUnit(unit, score, (score or 0.0) / largest), at in example.marked)
        for at, (unit, score) in enumerate(zip(example.units, scores, strict=True))
    )
